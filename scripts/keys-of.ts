/** The keys of an object by the names that its type has: for a literal object, which has no others. */
export function keysOf<T extends object>(of: T): readonly (keyof T & string)[] {
  return Object.keys(of).filter((key) => isKeyOf(of, key));
}

export function isKeyOf<T extends object>(of: T, key: string): key is keyof T & string {
  return Object.hasOwn(of, key);
}
