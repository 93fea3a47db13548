/** Statements that the server keeps on each connection: their memory is the server's. */
const namesMax = 256;
/** A statement is named when it was used so often; most texts that are made for one call come once. */
const usesMin = 3;
const countedMax = 2_000;
/**
 * A search for words. Which index is fast depends on the words and on how much the tenant has, and the plan of a named
 * statement is made for neither: it was seen to read a million entries for one with a rare word.
 */
const wordSearch = /tsquery/;

/**
 * Names for statements that are used again and again, so that the server parses and plans each of them once for a
 * connection. A pooler that gives each transaction another connection of the server makes them fail.
 */
export class StatementNames {
  #isUsed: boolean;
  #generation = 1;
  readonly #names = new Map<string, string>();
  readonly #uses = new Map<string, number>();

  constructor(isUsed = false) {
    this.#isUsed = isUsed;
  }

  enable(): void {
    this.#isUsed = true;
  }

  /** The name of a statement; undefined while it has none. */
  find(text: string): string | undefined {
    if (!this.#isUsed) return undefined;
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= namesMax || wordSearch.test(text)) return known;
    const uses = (this.#uses.get(text) ?? 0) + 1;
    if (uses < usesMin) {
      if (this.#uses.size >= countedMax) this.#uses.clear();
      this.#uses.set(text, uses);
      return undefined;
    }
    this.#uses.delete(text);
    const name = `varve_${this.#generation}_${this.#names.size + 1}`;
    this.#names.set(text, name);
    return name;
  }

  /**
   * Stops using names after an error that they caused: those of now when another program changed a table, all of them when
   * a pooler uses other connections of the server. True when the statement can be sent again.
   */
  learnFrom(error: unknown): boolean {
    if (!isNameError(error)) return false;
    if ((error as { code?: string }).code !== changedTable) this.#isUsed = false;
    this.#generation += 1;
    this.#names.clear();
    return true;
  }
}

const changedTable = "0A000";
const mixedUp: ReadonlySet<string> = new Set(["26000", "42P05"]);

/** Whether an error says that a name means something else to the server than here. */
export function isNameError(error: unknown): boolean {
  const { code = "", message = "" } = error as { code?: string; message?: string };
  return mixedUp.has(code) || (code === changedTable && message.includes("cached plan"));
}
