/** Goes where a citation leads. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, explainError } from "../../api/client.ts";
import { navigate, query, sessionHref } from "../../state/router.ts";
import { Empty } from "../../ui/basics.tsx";

const fault = signal<string | undefined>(undefined);

export function CitePage() {
  const id = query.value.get("id") ?? "";
  useEffect(() => {
    fault.value = undefined;
    findPlace(id).then(
      (href) => navigate(href, { replace: true }),
      (error: unknown) => {
        fault.value = explainError(error);
      },
    );
  }, [id]);
  return (
    <>
      <h1 class="visually-hidden">Citation</h1>
      {fault.value !== undefined && (
        <Empty title={`${id} cannot be opened`}>
          <p>{fault.value}</p>
        </Empty>
      )}
    </>
  );
}

async function findPlace(id: string): Promise<string> {
  const { kind, sessionKey, seq } = await call("GET /api/citations/{id}", { params: { id } });
  if (kind === "memory") return `/memory?id=${encodeURIComponent(id)}`;
  if (sessionKey === null)
    throw new Error("It is in an archived conversation: open it through the history of its session.");
  if (kind === "summary") return sessionHref(sessionKey, { summary: id });
  return sessionHref(sessionKey, seq === undefined ? {} : { at: String(seq) });
}
