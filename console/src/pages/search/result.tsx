import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { sessionHref, setQuery } from "../../state/router.ts";
import { attempt } from "../../state/toasts.ts";
import { Time } from "../../ui/basics.tsx";
import { MessageBody } from "../../ui/message-body.tsx";
import { describeKey } from "../../ui/session-title.ts";
import { highlightWords } from "./highlight-words.tsx";
import { readSurroundings, type SearchResult } from "./queries.ts";
import { chosen, state } from "./state.ts";
import { Why } from "./why.tsx";

const kindNames: Readonly<Record<string, string>> = {
  message: "Message",
  summary: "Summary",
  memory: "Memory",
  chunk: "Note",
  file: "File",
};

export function resultHref({ kind, citation, sessionKey, id }: SearchResult): string | undefined {
  if (kind === "memory") return `/memory?id=${encodeURIComponent(id)}`;
  if (sessionKey === null) return undefined;
  const seq = /^msg#(\d+)/.exec(citation)?.[1];
  if (seq !== undefined) return sessionHref(sessionKey, { at: seq });
  return kind === "summary" ? sessionHref(sessionKey, { summary: citation }) : sessionHref(sessionKey);
}

export function Result({ result, index }: { result: SearchResult; index: number }) {
  const isWhyOpen = useSignal(false);
  const around = useSignal<Awaited<ReturnType<typeof readSurroundings>>["entries"] | undefined>(undefined);
  const link = useRef<HTMLAnchorElement>(null);
  const isChosen = chosen.value === index;
  useEffect(() => {
    if (isChosen && index > 0) link.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  const { sessionKey, role, name, kind, citation, time, snippet } = result;
  const seq = Number(/^msg#(\d+)/.exec(citation)?.[1]);
  const title = result.sessionTitle ?? (sessionKey === null ? undefined : describeKey(sessionKey));
  const href = resultHref(result);
  const showAround = async () => {
    if (around.value !== undefined || sessionKey === null) return (around.value = undefined);
    const page = await attempt(() => readSurroundings(sessionKey, seq));
    around.value = page?.entries;
  };
  return (
    <li class={`result ${isChosen ? "chosen" : ""}`}>
      <div class="result-head">
        <span class={`tag kind-${kind}`}>{kindNames[kind] ?? kind}</span>
        {href === undefined ? (
          <strong>{title ?? citation}</strong>
        ) : (
          <a ref={link} class="result-link" href={href}>
            {title ?? result.citation}
          </a>
        )}
        {role !== undefined && (
          <button type="button" class="chip" onClick={() => setQuery(name ? { person: name } : { role })}>
            {name ?? role}
          </button>
        )}
        <span class="soft small">
          <Time value={time} /> · <span class="mono">{citation}</span>
        </span>
      </div>
      <p class="snippet">{highlightWords(snippet, state.value)}</p>
      <div class="row">
        {result.stages !== undefined && (
          <button
            type="button"
            class="chip"
            aria-expanded={isWhyOpen.value}
            onClick={() => (isWhyOpen.value = !isWhyOpen.value)}
          >
            Why
          </button>
        )}
        {Number.isFinite(seq) && sessionKey !== null && (
          <button
            type="button"
            class="chip"
            aria-expanded={around.value !== undefined}
            onClick={() => void showAround()}
          >
            Surroundings
          </button>
        )}
        {sessionKey !== null && state.value.session === "" && (
          <button type="button" class="chip" onClick={() => setQuery({ session: sessionKey })}>
            Only this session
          </button>
        )}
      </div>
      {isWhyOpen.value && <Why result={result} />}
      {around.value?.map((entry) => (
        <div key={entry.seq} class={`around ${entry.seq === seq ? "self" : ""}`}>
          <span class="soft small">
            {entry.message?.role} · msg#{entry.seq}
          </span>
          {entry.message && <MessageBody message={entry.message} />}
        </div>
      ))}
    </li>
  );
}
