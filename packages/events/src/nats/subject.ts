const UNSAFE = /[^A-Za-z0-9_-]/gu;

/**
 * One token of a subject: characters other than letters, digits, _ and - become % and the hexadecimal digits of their
 * bytes in UTF-8.
 */
export function subjectToken(text: string): string {
  const bytesOf = (character: string) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`)
      .join("");
  // A token must not be empty.
  return text === "" ? "%" : text.replace(UNSAFE, bytesOf);
}
