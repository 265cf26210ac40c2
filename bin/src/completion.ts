import { BadUsage, type FlagTable } from "./flags.ts";

/** The flags of every command, by its name. */
export type CommandTables = { readonly [command: string]: FlagTable };

const choicesOf = (table: FlagTable) =>
  Object.entries(table).flatMap(([name, { choices }]) => (choices === undefined ? [] : [{ name, choices }]));

const namesOf = (table: FlagTable) =>
  Object.keys(table)
    .map((name) => `--${name}`)
    .join(" ");

function bash(tables: CommandTables): string {
  const cases = Object.entries(tables).map(([command, table]) => {
    const values = choicesOf(table).map(
      ({ name, choices }) =>
        `      --${name}) COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$word")); return;;`,
    );
    const inside = values.length === 0 ? "" : `    case "$before" in\n${values.join("\n")}\n    esac\n`;
    return `  ${command})\n${inside}    COMPREPLY=($(compgen -W "${namesOf(table)}" -- "$word"))\n    [[ "$word" == -* ]] || COMPREPLY=($(compgen -f -- "$word"));;`;
  });
  return `_anulo() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  if [[ $COMP_CWORD -eq 1 ]]; then COMPREPLY=($(compgen -W "${Object.keys(tables).join(" ")}" -- "$word")); return; fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
}
complete -F _anulo anulo
`;
}

function zsh(tables: CommandTables): string {
  return `#compdef anulo
autoload -U +X bashcompinit && bashcompinit
${bash(tables)}`;
}

const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

function fish(tables: CommandTables): string {
  const commands = Object.keys(tables).map(
    (command) => `complete -c anulo -n __fish_use_subcommand -f -a ${command}`,
  );
  const flags = Object.entries(tables).flatMap(([command, table]) =>
    Object.entries(table).map(([name, { kind, choices, help, noEffect }]) => {
      const values = choices === undefined ? "" : ` -x -a ${quoted(choices.join(" "))}`;
      const needsValue = kind === "switch" || choices !== undefined ? "" : " -r";
      const about = quoted(help ?? `accepted; ${noEffect}`);
      return `complete -c anulo -n '__fish_seen_subcommand_from ${command}' -l ${name}${values}${needsValue} -d ${about}`;
    }),
  );
  return `${[...commands, ...flags].join("\n")}\n`;
}

const shells = { bash, zsh, fish };

/** The script with which a shell completes commands and flags. Throws BadUsage for an unknown shell. */
export function completionFor(shell: string | undefined, tables: CommandTables): string {
  if (shell !== undefined && Object.hasOwn(shells, shell))
    return shells[shell as keyof typeof shells](tables);
  throw new BadUsage(`anulo completion needs one of ${Object.keys(shells).join(", ")}`);
}
