import { createHash } from "node:crypto";
import type { EntryDraft } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { readTail } from "../../transcript/index.ts";
import type { OpenedSession } from "./import-types.ts";

export type ImportDraft = EntryDraft & { id: string };

/** An entry on its way from a file into a session. */
export interface PlacedDraft {
  draft: ImportDraft;
  /** The source names no parent: the entry follows the previous one of the file. */
  inOrder: boolean;
}

/** The newest entries of a session in a file: the last one that is not state, and the last one of all. */
export interface Tip {
  said: string;
  last: string;
}

interface Place {
  branch: number;
  seq: number;
}

/** Where the file has been read to: the place is unknown for an entry that is not stored yet. */
interface Position extends Tip {
  place?: Place;
}

const idsAtOnce = 500;
/** How far back the newest message is looked for: what follows it are a few records of the engine. */
const tailEntries = 50;

/**
 * Compares the entries of a file with a session that already has entries. A line that is known in its place is a
 * duplicate. A line in another place (because a line before it was edited or added) is a version of its own, on a branch
 * that begins at the last line both have in common. What follows the newest known line continues the conversation.
 */
export class KnownSession {
  readonly #store: Store;
  readonly #ref: OpenedSession;
  readonly #sessionId: string;
  /** After one of these the conversation continues from its head, wherever that is now. */
  readonly #ends: Set<string>;
  readonly #newestId: string | undefined;
  readonly #head: string | undefined;
  #branches = new Map<number, { parent: number; forkSeq: number }>();
  #places = new Map<string, Place>();
  #at: Position | undefined;
  readonly #hasKnownLine: () => Promise<boolean>;
  /** Whether the newest message of the conversation is from this file. */
  #newestSeen: boolean;
  #branched = false;

  private constructor(
    store: Store,
    ref: OpenedSession,
    sessionId: string,
    facts: { ends: Set<string>; newestId?: string; isFileEnd: boolean; head?: string },
    hasKnownLine: () => Promise<boolean>,
  ) {
    this.#store = store;
    this.#ref = ref;
    this.#sessionId = sessionId;
    this.#ends = facts.ends;
    this.#newestId = facts.newestId;
    this.#head = facts.head;
    this.#hasKnownLine = hasKnownLine;
    this.#newestSeen = facts.isFileEnd;
  }

  /** `previous` is where the file ended when it was last read; `hasKnownLine` looks ahead in the file. */
  static async open(
    store: Store,
    ref: OpenedSession,
    sessionId: string,
    previous: Tip | undefined,
    hasKnownLine: () => Promise<boolean>,
  ): Promise<KnownSession> {
    const tail = await readTail(store, ref, { limit: tailEntries, content: "reference" });
    const newest = tail.entries.findLast((entry) => entry.type === "message")?.id;
    const ends = new Set([newest, previous?.said, previous?.last].filter((id) => id !== undefined));
    const isFileEnd = newest !== undefined && (newest === previous?.said || newest === previous?.last);
    const facts = { ends, newestId: newest, isFileEnd, head: tail.entries.at(-1)?.id };
    return new KnownSession(store, ref, sessionId, facts, hasKnownLine);
  }

  /** The drafts with their parents and ids, in the same order. */
  async place(drafts: readonly PlacedDraft[]): Promise<ImportDraft[]> {
    await this.#readBranches();
    this.#places = await this.#find([this.#sessionId, ...drafts.map(({ draft }) => draft.id)]);
    const at = this.#at;
    if (at !== undefined) at.place = (await this.#find([at.said])).get(at.said) ?? at.place;
    const placed: ImportDraft[] = [];
    for (const [index, { draft, inOrder }] of drafts.entries()) {
      const isState = draft.type === "custom" || draft.type === "label" || draft.type === "model_change";
      if (isState) placed.push(this.#placeState(draft));
      else if (inOrder) placed.push(await this.#placeInOrder(draft, drafts, index));
      else placed.push(this.#placeByParent(draft));
    }
    return placed;
  }

  /**
   * The entry the conversation continues from, when that is not the last one appended: a conversation that went on
   * after the file was read keeps its end, and the changed part of the file is a branch next to it.
   */
  get headId(): string | undefined {
    if (!this.#branched) return undefined;
    return this.#newestSeen ? this.#at?.last : this.#head;
  }

  #placeState(draft: ImportDraft): ImportDraft {
    const isPending = this.#at !== undefined && this.#at.place === undefined;
    if (this.#places.has(draft.id)) return draft;
    if (!isPending || this.#at === undefined || this.#ends.has(this.#at.said)) return { ...draft, parentId: undefined };
    const parentId = this.#at.last;
    this.#at.last = draft.id;
    return { ...draft, parentId };
  }

  #placeByParent(draft: ImportDraft): ImportDraft {
    const at = this.#at;
    const known = this.#places.get(draft.id);
    const { parentId } = draft;
    this.#reach(draft.id, known);
    if (known !== undefined || parentId === undefined) return draft;
    if (parentId !== null && this.#ends.has(parentId)) return this.#appendToEnd(draft);
    this.#branched = true;
    return at !== undefined && parentId === at.said && at.place === undefined ? { ...draft, parentId: at.last } : draft;
  }

  async #placeInOrder(draft: ImportDraft, drafts: readonly PlacedDraft[], index: number): Promise<ImportDraft> {
    const known = this.#places.get(draft.id);
    const at = this.#at;
    if (at === undefined) return this.#placeFirst(draft, known);
    if (known !== undefined && at.place !== undefined && this.#isAfter(known, at.place)) {
      this.#reach(draft.id, known);
      return draft;
    }
    if (known === undefined) return this.#continue(draft, at);
    // The same line after other lines than before: a version of its own, found again by what it follows.
    const id = versionId(draft.id, at.said);
    if (!this.#places.has(id)) await this.#findVersions(drafts, index, at.said);
    const version = this.#places.get(id);
    if (draft.id === this.#newestId) this.#newestSeen = true;
    if (version === undefined) return this.#continue({ ...draft, id }, at);
    this.#reach(id, version);
    return { ...draft, id };
  }

  async #placeFirst(draft: ImportDraft, known: Place | undefined): Promise<ImportDraft> {
    this.#reach(draft.id, known);
    if (known !== undefined) return draft;
    if (!(await this.#hasKnownLine())) return this.#appendToEnd(draft);
    this.#branched = true;
    return { ...draft, parentId: this.#places.has(this.#sessionId) ? this.#sessionId : null };
  }

  #continue(draft: ImportDraft, at: Position): ImportDraft {
    this.#reach(draft.id, undefined);
    if (this.#ends.has(at.said) || this.#ends.has(at.last)) return this.#appendToEnd(draft);
    this.#branched = true;
    return { ...draft, parentId: at.last };
  }

  #appendToEnd(draft: ImportDraft): ImportDraft {
    this.#ends.add(draft.id);
    return { ...draft, parentId: undefined };
  }

  #reach(id: string, place: Place | undefined): void {
    if (id === this.#newestId) this.#newestSeen = true;
    this.#at = { said: id, last: id, place };
  }

  /** Looks up the versions of the following lines, as they would be if each of them follows the previous one. */
  async #findVersions(drafts: readonly PlacedDraft[], from: number, after: string): Promise<void> {
    const ids: string[] = [];
    let previous = after;
    for (const { draft, inOrder } of drafts.slice(from)) {
      if (!inOrder || draft.type === "custom" || draft.type === "label" || draft.type === "model_change") continue;
      previous = this.#places.has(draft.id) ? versionId(draft.id, previous) : draft.id;
      ids.push(previous);
    }
    for (const [id, place] of await this.#find(ids)) this.#places.set(id, place);
  }

  async #find(ids: readonly string[]): Promise<Map<string, Place>> {
    const found = new Map<string, Place>();
    for (let from = 0; from < ids.length; from += idsAtOnce) {
      const rows = await this.#store.db
        .selectFrom("entries")
        .select(["id", "branch", "seq"])
        .where("agent", "=", this.#ref.agent)
        .where("conversation", "=", this.#ref.conversation)
        .where("id", "in", ids.slice(from, from + idsAtOnce))
        .execute();
      for (const { id, branch, seq } of rows) found.set(id, { branch, seq });
    }
    return found;
  }

  async #readBranches(): Promise<void> {
    const rows = await this.#store.db
      .selectFrom("branches")
      .select(["branch", "parent_branch", "fork_seq"])
      .where("agent", "=", this.#ref.agent)
      .where("conversation", "=", this.#ref.conversation)
      .where((where) =>
        where.or([where("parent_conversation", "is", null), where("parent_conversation", "=", this.#ref.conversation)]),
      )
      .execute();
    this.#branches = new Map(
      rows.flatMap(({ branch, parent_branch: parent, fork_seq: forkSeq }) =>
        parent === null || forkSeq === null ? [] : [[branch, { parent, forkSeq }]],
      ),
    );
  }

  /** Whether an entry is on the same path as another one, and after it. */
  #isAfter(entry: Place, other: Place): boolean {
    if (entry.seq <= other.seq) return false;
    let upTo = entry.seq;
    let branch: number | undefined = entry.branch;
    while (branch !== undefined && branch !== other.branch) {
      const fork = this.#branches.get(branch);
      upTo = Math.min(upTo, fork?.forkSeq ?? 0);
      branch = fork?.parent;
    }
    return branch !== undefined && upTo >= other.seq;
  }
}

/** The id of a known line that follows another line than it did before. */
function versionId(id: string, after: string): string {
  return `${id.slice(0, 400)}~${createHash("sha256").update(`${id}\n${after}`).digest("hex").slice(0, 16)}`;
}
