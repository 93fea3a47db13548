import {
  isCheckInView,
  isErrorInView,
  isFileInView,
  isLiteralInView,
  isSentenceInView,
  isTodoInView,
} from "./in-view.ts";
import type { ViewText } from "./view-text.ts";
import type { WorkItems, WorkKind } from "./work-items.ts";

/** An item as a person reads it in a list of what is missing, and whether a view contains it. */
export interface MatchedItem {
  label: string;
  isInView(view: ViewText): boolean;
}

/** The items that are measured, by kind. Of the errors only those with a fix are measured. */
export function listMatchedItems(items: WorkItems): Record<WorkKind, MatchedItem[]> {
  const sentences = (list: readonly { text: string }[]) =>
    list.map(({ text }): MatchedItem => ({ label: text, isInView: (view) => isSentenceInView(text, view) }));
  const literals = (list: readonly { literal: string }[]) =>
    list.map((item): MatchedItem => ({ label: item.literal, isInView: (view) => isLiteralInView(item, view) }));
  const checks = (list: WorkItems["commands"], isLoose: boolean) =>
    list.map(
      (check): MatchedItem => ({
        label: `${check.command}: ${check.outcome}`,
        isInView: (view) => isCheckInView(check, view, isLoose),
      }),
    );
  return {
    files: items.files.map((file) => ({
      label: file.path,
      isInView: (view) => isFileInView(file, items.namedFiles, view),
    })),
    todos: items.todos.map((todo) => ({
      label: `${todo.text}: ${todo.state}`,
      isInView: (view) => isTodoInView(todo, view),
    })),
    lastChecks: checks(items.lastChecks, false),
    commands: checks(items.commands, true),
    requests: sentences(items.requests),
    errors: items.errors.flatMap((error) => {
      const { fix } = error;
      if (fix === undefined) return [];
      const label = `${error.cause} → ${[...fix.files, ...fix.commands].join(", ")}`;
      return [{ label, isInView: (view) => isErrorInView(error, view) }];
    }),
    decisions: sentences(items.decisions),
    numbers: literals(items.numbers),
    paths: literals(items.paths),
    identifiers: literals(items.identifiers),
  };
}
