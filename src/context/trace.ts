/** What became of one item of the context, and why. */
export interface TraceItem {
  kind: "summary" | "message" | "recall" | "memory" | "note";
  id: string;
  tokens: number;
  in: boolean;
  why: string;
}
