/** The options of `varve hook`. */
export interface HookFlags {
  home?: string;
  database?: string;
  agent?: string;
  /** How many milliseconds it may take; what is usual for the event when absent. */
  deadline?: number;
}
