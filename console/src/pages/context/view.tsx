export function ContextPage(_: { session: string }) {
  return null;
}
