/** The types of the HTTP API, from the schemas of its routes: a client that uses them cannot differ from the routes. */
import type { z } from "@hono/zod-openapi";
import type { auditRoutes } from "./routes/audit.ts";
import type { contextRoutes } from "./routes/context.ts";
import type { documentRoutes } from "./routes/document.ts";
import type { eventRoutes } from "./routes/events.ts";
import type { exportRoutes } from "./routes/export.ts";
import type { grantRoutes } from "./routes/grants.ts";
import type { importRoutes } from "./routes/imports.ts";
import type { jobRoutes } from "./routes/jobs.ts";
import type { layerRoutes } from "./routes/layers.ts";
import type { maintenanceRoutes } from "./routes/maintenance.ts";
import type { meRoutes } from "./routes/me.ts";
import type { memoryRoutes } from "./routes/memories.ts";
import type { messageRoutes } from "./routes/messages.ts";
import type { ownerRoutes } from "./routes/owners.ts";
import type { personRoutes } from "./routes/persons.ts";
import type { recallRoutes } from "./routes/recall.ts";
import type { searchRoutes } from "./routes/search.ts";
import type { sessionLifecycleRoutes } from "./routes/session-lifecycle.ts";
import type { sessionRoutes } from "./routes/sessions.ts";
import type { settingsRoutes } from "./routes/settings.ts";
import type { systemRoutes } from "./routes/system.ts";
import type { tokenRoutes } from "./routes/tokens.ts";
import type { turnRoutes } from "./routes/turns.ts";

type RouteOf<Group> = Group[keyof Group];
type AnyRoute =
  | RouteOf<typeof auditRoutes>
  | RouteOf<typeof contextRoutes>
  | RouteOf<typeof documentRoutes>
  | RouteOf<typeof eventRoutes>
  | RouteOf<typeof exportRoutes>
  | RouteOf<typeof grantRoutes>
  | RouteOf<typeof importRoutes>
  | RouteOf<typeof jobRoutes>
  | RouteOf<typeof layerRoutes>
  | RouteOf<typeof maintenanceRoutes>
  | RouteOf<typeof meRoutes>
  | RouteOf<typeof memoryRoutes>
  | RouteOf<typeof messageRoutes>
  | RouteOf<typeof ownerRoutes>
  | RouteOf<typeof personRoutes>
  | RouteOf<typeof recallRoutes>
  | RouteOf<typeof searchRoutes>
  | RouteOf<typeof sessionLifecycleRoutes>
  | RouteOf<typeof sessionRoutes>
  | RouteOf<typeof settingsRoutes>
  | RouteOf<typeof systemRoutes>
  | RouteOf<typeof tokenRoutes>
  | RouteOf<typeof turnRoutes>;

type Shape<S> = S extends z.ZodType ? z.input<S> : undefined;
type JsonOf<C> = C extends { content: { "application/json": { schema: infer S extends z.ZodType } } }
  ? z.output<S>
  : never;
type RequestOf<R> = R extends { request: infer Q } ? Q : object;
type QueryOf<Q> = Q extends { query: infer S } ? Shape<S> : undefined;
type ParamsOf<Q> = Q extends { params: infer S } ? Shape<S> : undefined;
type BodyOf<Q> = Q extends { body: { content: { "application/json": { schema: infer S } } } } ? Shape<S> : undefined;
type AnswerOf<R> = R extends { responses: infer A } ? JsonOf<A[keyof A & (200 | 201 | 202)]> : never;

/** The input and the answer of each route, by its method and path. */
export type Api = {
  [R in AnyRoute as `${Uppercase<R["method"]>} ${R["path"]}`]: {
    params: ParamsOf<RequestOf<R>>;
    query: QueryOf<RequestOf<R>>;
    body: BodyOf<RequestOf<R>>;
    answer: AnswerOf<R>;
  };
};
