import type { IncomingMessage } from "node:http";
import { type SseEvent, sseParser } from "./sse.ts";

/**
 * Looks at the first events of a stream until one says whether the provider refuses after all, and puts them back. The
 * client would wait for these events anyway: they come before the model has said anything.
 */
export function peekRefusal(
  upstream: IncomingMessage,
  judge: (event: SseEvent) => { refusal?: string } | undefined,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const parser = sseParser();
  const chunks: Buffer[] = [];
  const done = (refusal?: string): void => {
    upstream.off("readable", look).off("end", over).off("error", over).off("close", over);
    // Put back in the same breath as it was read: the stream has not ended for those who read it next.
    if (chunks.length > 0 && !upstream.readableEnded) upstream.unshift(Buffer.concat(chunks));
    resolve(refusal);
  };
  const over = (): void => done();
  const look = (): void => {
    for (let chunk: Buffer | null = upstream.read(); chunk !== null; chunk = upstream.read()) {
      chunks.push(chunk);
      for (const event of parser.push(chunk)) {
        const verdict = judge(event);
        if (verdict === undefined) continue;
        done(verdict.refusal);
        return;
      }
    }
  };
  upstream.on("readable", look).on("end", over).on("error", over).on("close", over);
  return promise;
}
