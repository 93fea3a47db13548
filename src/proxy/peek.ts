import type { IncomingMessage } from "node:http";
import { type SseEvent, sseParser } from "./sse.ts";

/**
 * Reads the first events of a stream until one decides whether the provider refuses the request, and puts them back. The
 * client gets no output later for it: these events precede the model's output.
 */
export function peekRefusal(
  upstream: IncomingMessage,
  judge: (event: SseEvent) => { refusal?: string } | undefined,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const parser = sseParser();
  const chunks: Buffer[] = [];
  const done = (refusal?: string): void => {
    upstream.off("readable", onReadable).off("end", onEnd).off("error", onEnd).off("close", onEnd);
    // Put back synchronously, before the stream can emit its end.
    if (chunks.length > 0 && !upstream.readableEnded) upstream.unshift(Buffer.concat(chunks));
    resolve(refusal);
  };
  const onEnd = (): void => done();
  const onReadable = (): void => {
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
  upstream.on("readable", onReadable).on("end", onEnd).on("error", onEnd).on("close", onEnd);
  return promise;
}
