/** Something the engine did by itself or on request, told to whoever opened it. */
export interface EngineEvent {
  type: "compaction";
  agent: string;
  key: string;
  sessionId: string;
  data: {
    trigger: string;
    status: string;
    tokensBefore: number;
    tokensAfter: number;
    leafPasses: number;
    condensedPasses: number;
    calls: number;
    milliseconds: number;
    because?: string;
  };
}
