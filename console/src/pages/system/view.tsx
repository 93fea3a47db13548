export function SystemPage(_: { session: string }) {
  return null;
}
