import { computed, signal } from "@preact/signals";
import { createResource } from "../../state/resource.ts";
import { query } from "../../state/router.ts";
import { type Found, type Mode, type SearchState, search } from "./queries.ts";

export const state = computed<SearchState>(() => {
  const get = (name: string) => query.value.get(name) ?? "";
  return {
    q: get("q"),
    mode: (get("mode") || "both") as Mode,
    kind: get("kind"),
    session: get("session"),
    person: get("person"),
    role: get("role"),
    scope: get("scope"),
    since: get("since"),
    before: get("before"),
    asOf: get("asOf"),
  };
});

export const found = createResource<Found>((abort) => search(state.value, abort));
export const chosen = signal(0);
