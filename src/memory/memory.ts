/** The categories of memories: whether they merge or keep versions, their admission prior and default importance. */
export const categories = {
  profile: { merges: true, versioned: false, typePrior: 0.95, importance: 0.9 },
  preferences: { merges: true, versioned: true, typePrior: 0.9, importance: 0.8 },
  entities: { merges: true, versioned: true, typePrior: 0.75, importance: 0.7 },
  events: { merges: false, versioned: false, typePrior: 0.45, importance: 0.6 },
  cases: { merges: false, versioned: false, typePrior: 0.8, importance: 0.8 },
  patterns: { merges: true, versioned: false, typePrior: 0.85, importance: 0.85 },
} as const;

export type Category = keyof typeof categories;
export const categoryNames = Object.keys(categories) as [Category, ...Category[]];

export const tiers = ["core", "working", "peripheral"] as const;
export type Tier = (typeof tiers)[number];

export const temporalTypes = ["static", "dynamic"] as const;
export type TemporalType = (typeof temporalTypes)[number];

/**
 * Where it came from: the owner, an agent, another person, a group, the output of a tool, an imported file, the web, or the
 * program itself. `untrusted` is what was learned in groups before these were told apart.
 */
export const trusts = [
  "owner",
  "agent",
  "person",
  "group",
  "tool output",
  "imported file",
  "web",
  "untrusted",
  "system",
] as const;
export type Trust = (typeof trusts)[number];

/** The situation in which a memory holds; `general` is any. */
export const contextLabels = [
  "general",
  "morning",
  "evening",
  "night",
  "weekday",
  "weekend",
  "work",
  "leisure",
  "summer",
  "winter",
  "travel",
] as const;
export type ContextLabel = (typeof contextLabels)[number];

/** A fact at three lengths: one sentence, short structured Markdown, the full narrative. */
export interface Levels {
  abstract: string;
  overview: string;
  content: string;
}

/** The evidence of a memory: a range of characters in one message. The quoted text stays in the log. */
export interface Source {
  agent: string;
  sessionId: string;
  seq: number;
  start: number;
  end: number;
}

export interface Relation {
  memory: string;
  /** `conflicts`: both are kept, and one of them may be wrong. */
  kind: "contextualizes" | "contradicts" | "conflicts";
  label: ContextLabel;
}

/** How often a memory was confirmed and contradicted under a label. */
export interface Support {
  confirmed: number;
  contradicted: number;
}

/** One version of a memory. A change creates a version with its own id; `root` is the id of the first one. */
export interface Memory extends Levels {
  id: string;
  root: string;
  version: number;
  /** The agent that wrote it. */
  agent: string;
  scope: string;
  category: Category;
  importance: number;
  confidence: number;
  tier: Tier;
  temporalType: TemporalType;
  createdAt: number;
  lastAccessedAt?: number;
  accessCount: number;
  /** Since when it is valid: the time of the message that states it. */
  validFrom: number;
  /** When it stopped being valid; absent for a current version. */
  invalidatedAt?: number;
  /** When the event or plan it describes is over; it ranks lower from then on. */
  expiresAt?: number;
  forgottenAt?: number;
  /** Until when a doubtful memory waits for a confirmation. It is found when asked for, and never recalled unasked. */
  tentativeUntil?: number;
  supersedes?: string;
  supersededBy?: string;
  /** Identifies the fact independent of its value, so that a new value supersedes the old one. */
  factKey?: string;
  trust: Trust;
  /** Its origin: `rules`, `model` with the model's name, or `store` for a memory that was added directly. */
  extractor: string;
  /** Whether it comes from a story or role play. */
  fiction: boolean;
  relations: Relation[];
  support: Partial<Record<ContextLabel, Support>>;
  sources: Source[];
}

/** A memory that is not written yet. */
export interface MemoryDraft extends Levels {
  category: Category;
  importance: number;
  confidence: number;
  temporalType: TemporalType;
  validFrom: number;
  expiresAt?: number;
  factKey?: string;
  trust: Trust;
  extractor: string;
  fiction: boolean;
  label: ContextLabel;
  sources: Source[];
}
