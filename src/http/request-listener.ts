import type { RequestListener, ServerResponse } from "node:http";
import { VarveError } from "../domain/index.ts";
import type { GatewayContext, GatewayLogRecord } from "./context.ts";

export interface LazyListener {
  listener: RequestListener;
  /** Resolves when the app is not being loaded. */
  settle(): Promise<void>;
}

/** Loads the app of a gateway; tests replace it. */
export type LoadListener = () => Promise<RequestListener>;

/**
 * Loads the app with the first request: its routes, their schemas and the classes of `fetch` take much memory, which a
 * gateway that has only jobs to do does not need.
 */
export function createLazyListener(load: LoadListener, log: (record: GatewayLogRecord) => void): LazyListener {
  let loaded: RequestListener | undefined;
  let loading: Promise<void> | undefined;
  const listener: RequestListener = (request, response) => {
    if (loaded) return loaded(request, response);
    loading ??= load().then((one) => {
      loaded = one;
    });
    loading.then(
      () => {
        // The client may have gone meanwhile.
        if (!response.destroyed) loaded?.(request, response);
      },
      (error: unknown) => {
        log({ event: "error", method: request.method ?? "", path: "the routes of the gateway", error });
        refuse(response);
      },
    );
  };
  return { listener, settle: async () => loading?.catch(() => undefined) };
}

export function loadAppListener(gateway: GatewayContext): LoadListener {
  return async () => (await import("./app-listener.ts")).createAppListener(gateway);
}

function refuse(response: ServerResponse): void {
  const fault = new VarveError("INTERNAL", "The gateway cannot load its routes.", {
    remedy: "Restart the gateway: its program was probably replaced by another version. Its log has the error.",
  });
  response.writeHead(fault.httpStatus, { "Content-Type": "application/json", Connection: "close" });
  response.end(JSON.stringify(fault.toJSON()));
}
