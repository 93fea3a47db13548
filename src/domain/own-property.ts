/**
 * The value under a name that comes from outside. A plain lookup would also find what every object inherits: the name
 * `constructor` or `__proto__` would give a value that nobody stored.
 */
export function getOwn<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
