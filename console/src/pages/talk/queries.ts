import type { TurnEvent, TurnResult } from "../../../../src/turn/events.ts";
import { type Answer, call, send } from "../../api/client.ts";
import { isUnlimited } from "../../api/login.ts";

export type { TurnEvent, TurnResult };
export type Recall = Answer<"GET /api/sessions/{key}/recalls">["recalls"][number];

export interface Attachment {
  name: string;
  mediaType: string;
  data: string;
}

/** Sends a message and calls back for each event of its turn, until it has ended. */
export async function sendTurn(
  message: { session: string; text: string; attachments: Attachment[] },
  onEvent: (event: TurnEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  // A login that may do everything is the owner's, also in a session that begins here.
  const speaker = isUnlimited() ? { owner: true } : {};
  const body = { ...message, ...speaker, id: crypto.randomUUID(), debounceMs: 0, stream: true };
  const response = await send("POST", "/api/turns", body, signal);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (reader) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      if (data !== undefined) onEvent(JSON.parse(data) as TurnEvent);
    }
  }
}

export const stopTurn = (key: string) => call("POST /api/sessions/{key}/interrupt", { params: { key } });

export async function readRecall(key: string): Promise<Recall | undefined> {
  return (await call("GET /api/sessions/{key}/recalls", { params: { key } })).recalls[0];
}

export function readFile(file: File): Promise<Attachment> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const data = String(reader.result).replace(/^data:[^,]*,/, "");
      resolve({ name: file.name, mediaType: file.type || "application/octet-stream", data });
    };
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
}
