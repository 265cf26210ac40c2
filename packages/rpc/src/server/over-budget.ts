/** Thrown if a call exceeds its declared cost, or the free resources of its port. */
export class OverBudget extends Error {
  override name = "OverBudget";
  /**
   * `request`: the request is too large; `response`: the response would be too long; `rows`: it takes more rows of the
   * database; `port`: other requests use the port's resources.
   */
  readonly of: "request" | "response" | "rows" | "port";

  constructor(of: OverBudget["of"], message: string) {
    super(message);
    this.of = of;
  }
}
