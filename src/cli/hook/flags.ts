/** The options of `varve hook`. */
export interface HookFlags {
  home?: string;
  database?: string;
  agent?: string;
}
