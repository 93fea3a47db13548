import { call } from "../../api/client.ts";
import { createResource } from "../../state/resource.ts";

export const jobs = createResource(
  async (abort) => (await call("GET /api/jobs", { query: { limit: 200 }, signal: abort })).jobs,
);
export const doctor = createResource((abort) => call("GET /api/doctor", { signal: abort }));
export const backups = createResource(async (abort) => (await call("GET /api/backups", { signal: abort })).backups);
export const tokens = createResource(async (abort) => (await call("GET /api/tokens", { signal: abort })).tokens);
export const settings = createResource(async (abort) => (await call("GET /api/config", { signal: abort })).settings);
export const clients = createResource(async (abort) => (await call("GET /api/clients", { signal: abort })).clients);
export const warnings = createResource(async (abort) => (await call("GET /api/warnings", { signal: abort })).warnings);
