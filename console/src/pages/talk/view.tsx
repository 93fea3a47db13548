import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { call } from "../../api/client.ts";
import { canWrite, createSessionKey } from "../../api/login.ts";
import { createResource } from "../../state/resource.ts";
import { query, sessionHref, setQuery } from "../../state/router.ts";
import { attempt, say } from "../../state/toasts.ts";
import { Empty } from "../../ui/basics.tsx";
import { pageKeys } from "../../ui/keys.ts";
import { sessionTitle } from "../../ui/session-title.ts";
import { EntryView } from "../session/entry.tsx";
import { type Attachment, readFile } from "./queries.ts";
import { type Chat, createChat } from "./state.ts";
import { TurnView } from "./turn.tsx";
import "../session/session.css";
import "./talk.css";

const defaultSession = "agent:main:main";

export function TalkPage() {
  const key = query.value.get("session") ?? defaultSession;
  return <ChatView key={key} session={key} />;
}

function ChatView({ session }: { session: string }) {
  const chat = useMemo(() => createChat(session), []);
  const sessions = useMemo(
    () => createResource((signal) => call("GET /api/sessions", { query: { limit: 100 }, signal })),
    [],
  );
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    pageKeys.value = [
      ["Enter", "Send"],
      ["Shift Enter", "New line"],
      ["Esc", "Stop the reply"],
    ];
    void sessions.load();
    void chat.load();
  }, []);
  const last = chat.turns.value.at(-1);
  useEffect(
    () => end.current?.scrollIntoView({ block: "end" }),
    [chat.history.value, last?.reply.length, last?.result],
  );
  const list = sessions.data.value?.sessions ?? [];
  const current = list.find(({ key }) => key === session);
  const isEmpty = chat.history.value.length === 0 && chat.turns.value.length === 0;
  return (
    <div class="talk">
      <header class="talk-head">
        <h1>Talk</h1>
        <label class="field">
          <span>Session</span>
          <select
            class="input"
            value={session}
            onChange={(event) => setQuery({ session: event.currentTarget.value }, false)}
          >
            {!current && <option value={session}>{sessionTitle({ key: session })}</option>}
            {list.map((one) => (
              <option key={one.key} value={one.key}>
                {sessionTitle(one)}
              </option>
            ))}
          </select>
        </label>
        {current && <ModelField session={session} model={current.modelOverride ?? ""} />}
        <a class="button" href={sessionHref(session)}>
          Open the session
        </a>
        {canWrite() && (
          <button type="button" class="button" onClick={() => setQuery({ session: createSessionKey() }, false)}>
            New session
          </button>
        )}
      </header>
      <div class="talk-log" role="log" aria-label="Conversation" tabIndex={0}>
        {isEmpty && (
          <Empty title="Say something">
            <p>Without a model the agent answers from what it remembers, with citations.</p>
          </Empty>
        )}
        {chat.history.value.map((entry) => (
          <EntryView key={entry.seq} entry={entry} recall={undefined} isMarked={false} durationMs={undefined} />
        ))}
        {chat.turns.value.map((turn, index) => (
          <TurnView key={index} turn={turn} session={session} />
        ))}
        <div ref={end} />
      </div>
      {canWrite() ? <Composer chat={chat} /> : <p class="notice">This login may read, but not send messages.</p>}
    </div>
  );
}

function ModelField({ session, model }: { session: string; model: string }) {
  const set = async (value: string) => {
    const done = await attempt(() =>
      call("PATCH /api/sessions/{key}", { params: { key: session }, body: { modelOverride: value.trim() || null } }),
    );
    if (done) say(value.trim() === "" ? "The model of the settings answers." : `${value.trim()} answers from now on.`);
  };
  return (
    <label class="field">
      <span>Model</span>
      <input
        class="input"
        defaultValue={model}
        placeholder="as the settings say"
        disabled={!canWrite()}
        onChange={(event) => void set(event.currentTarget.value)}
      />
    </label>
  );
}

function Composer({ chat }: { chat: Chat }) {
  const text = useSignal("");
  const files = useSignal<Attachment[]>([]);
  const picker = useRef<HTMLInputElement>(null);
  const send = () => {
    const words = text.value.trim();
    if ((words === "" && files.value.length === 0) || chat.isRunning.value) return;
    const attached = files.value;
    text.value = "";
    files.value = [];
    void chat.say(words, attached);
  };
  const last = chat.turns.value.at(-1);
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        class="input"
        rows={2}
        aria-label="Message"
        placeholder="Write a message"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape" && chat.isRunning.value) void chat.stop();
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class="row">
        <button type="submit" class="button primary" disabled={chat.isRunning.value}>
          Send
        </button>
        {chat.isRunning.value && (
          <button type="button" class="button" onClick={() => void chat.stop()}>
            Stop
          </button>
        )}
        {!chat.isRunning.value && last !== undefined && (
          <button type="button" class="button" onClick={() => void chat.retry()}>
            Retry
          </button>
        )}
        <button type="button" class="button" onClick={() => picker.current?.click()}>
          Attach
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          onChange={(event) => {
            const chosen = [...(event.currentTarget.files ?? [])];
            void attempt(() => Promise.all(chosen.map(readFile))).then((read) => {
              if (read) files.value = [...files.value, ...read];
            });
          }}
        />
        {files.value.map(({ name }) => (
          <button
            key={name}
            type="button"
            class="chip on"
            aria-label={`Remove ${name}`}
            onClick={() => (files.value = files.value.filter((one) => one.name !== name))}
          >
            {name} ×
          </button>
        ))}
      </div>
    </form>
  );
}
