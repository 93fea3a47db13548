/** The parts of LangGraph that are used here. Its classes are handed in by the program, so that nothing is imported. */

export interface GraphConfig {
  configurable?: Record<string, unknown>;
}

export interface Checkpoint {
  v: number;
  id: string;
  ts: string;
  channel_values: Record<string, unknown>;
  channel_versions: Record<string, number | string>;
  versions_seen: Record<string, Record<string, number | string>>;
}

export interface CheckpointTuple {
  config: GraphConfig;
  checkpoint: Checkpoint;
  metadata?: Record<string, unknown>;
  parentConfig?: GraphConfig;
  pendingWrites?: [task: string, channel: string, value: unknown][];
}

export interface ListOptions {
  limit?: number;
  before?: GraphConfig;
  filter?: Record<string, unknown>;
}

export interface Serde {
  dumpsTyped(data: unknown): Promise<[string, Uint8Array]>;
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>;
}

export interface CheckpointSaverBase {
  serde: Serde;
  getNextVersion(current: number | undefined): number | string;
}

export type CheckpointSaverClass = new (serde?: Serde) => CheckpointSaverBase;

/** An item of a store. */
export interface Item {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

export interface SearchItem extends Item {
  score?: number;
}

export interface GetOperation {
  namespace: string[];
  key: string;
}

export interface PutOperation extends GetOperation {
  value: Record<string, unknown> | null;
  index?: false | string[];
}

export interface SearchOperation {
  namespacePrefix: string[];
  filter?: Record<string, unknown>;
  limit?: number;
  offset?: number;
  query?: string;
}

export interface MatchCondition {
  matchType: "prefix" | "suffix";
  path: string[];
}

export interface ListNamespacesOperation {
  matchConditions?: MatchCondition[];
  maxDepth?: number;
  limit: number;
  offset: number;
}

export type Operation = GetOperation | PutOperation | SearchOperation | ListNamespacesOperation;
