/** A part of a conversation that is drawn as one layer. */
export interface Layer {
  /** `messages` is a run of messages that are too many to be drawn one by one. */
  kind: "summary" | "messages" | "message";
  /** `sum_…`, `msg#12`, or `msg#12-msg#90` for a run. */
  id: string;
  /** 0 for messages, 1 for leaf summaries, more for condensed ones. */
  depth: number;
  firstSeq: number;
  lastSeq: number;
  /** How many messages it stands for. */
  messages: number;
  /** Its tokens in a view. */
  tokens: number;
  earliestAt: number;
  latestAt: number;
  /** The first line of a summary, or the role of a message. */
  title: string;
}

export interface Layers {
  /** Oldest first. */
  layers: Layer[];
  /** How many messages the conversation has. */
  messages: number;
  /** True when the number of messages in a run is estimated, because counting them all would take long. */
  isEstimated: boolean;
}
