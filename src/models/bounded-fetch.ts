import { VarveError } from "../domain/index.ts";

/** Larger than any valid response; a server that never stops sending must not exhaust memory. */
const bytesMax = 32 * 1024 * 1024;

/** `fetch` with a limit on the response size. */
export async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  const reader = response.body.getReader();
  let bytes = 0;
  const bounded = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      bytes += value.byteLength;
      if (bytes <= bytesMax) return controller.enqueue(value);
      await reader.cancel();
      throw new VarveError("MODEL_FAILED", `The response is larger than ${bytesMax} bytes.`);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(bounded, { status, statusText, headers });
}
