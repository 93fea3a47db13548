/** What a memory is about, with how it may change and what it is worth before anything is known of it. */
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

/** Whose word it is: the owner's, an agent's, anybody's, or the program's own. */
export const trusts = ["owner", "agent", "untrusted", "system"] as const;
export type Trust = (typeof trusts)[number];

/** When or where something holds. `general` is always. */
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

/** Where a memory comes from: a range of characters in the text of one message. The words stay in the log. */
export interface Source {
  agent: string;
  sessionId: string;
  seq: number;
  start: number;
  end: number;
}

export interface Relation {
  memory: string;
  kind: "contextualizes" | "contradicts";
  label: ContextLabel;
}

/** How often something was said again under a label, and how often the opposite. */
export interface Support {
  confirmed: number;
  contradicted: number;
}

/** One version of a memory. A change makes another version with an id of its own; `root` is the first one's. */
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
  /** From when on it was believed, by the time of the message that says so. */
  validFrom: number;
  /** When it stopped being believed; absent while it is. */
  invalidatedAt?: number;
  /** The end of the time it is about; it ranks lower then. */
  expiresAt?: number;
  forgottenAt?: number;
  supersedes?: string;
  supersededBy?: string;
  /** Names what it is about, so that another value of the same fact is told apart from another fact. */
  factKey?: string;
  trust: Trust;
  /** What wrote it: `rules`, `model` and its name, `store` for what was written by hand. */
  extractor: string;
  /** Whether the talk it comes from was fiction. */
  fiction: boolean;
  relations: Relation[];
  support: Partial<Record<ContextLabel, Support>>;
  sources: Source[];
}

/** A memory before it is written. */
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
