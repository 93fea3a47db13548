import { VarveError } from "../domain/index.ts";

/** More than any answer in any wire format; a server that sends on and on must not fill the memory. */
const bytesMax = 32 * 1024 * 1024;

/** `fetch`, with a bound on what is read of an answer. */
export async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  let bytes = 0;
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes <= bytesMax) controller.enqueue(chunk);
        else controller.error(new VarveError("MODEL_FAILED", `The answer is larger than ${bytesMax} bytes.`));
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(bounded, { status, statusText, headers });
}
