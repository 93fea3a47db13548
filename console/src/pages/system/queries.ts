import { type Answer, call } from "../../api/client.ts";

export type Job = Answer<"GET /api/jobs">["jobs"][number];
export type Setting = Answer<"GET /api/config">["settings"][number];
export type Token = Answer<"GET /api/tokens">["tokens"][number];
export type Issued = Answer<"POST /api/tokens">;

export const retryJob = (id: string) => call("POST /api/jobs/{id}/retry", { params: { id } });
export const repair = () => call("POST /api/doctor", { body: { fix: true } });
export const takeBackup = () => call("POST /api/backup", {});
export const revokeToken = (id: string) => call("POST /api/tokens/{id}/revoke", { params: { id } });

export const createToken = (name: string, rights: ("read" | "write" | "admin")[], expires: string) =>
  call("POST /api/tokens", { body: { name, rights, ...(expires === "" ? {} : { expires }) } });

export const setSetting = (key: string, value: string | null, check: boolean) =>
  call("POST /api/config/{setting}", { params: { setting: key }, body: { value, check } });
