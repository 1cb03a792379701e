/** The keys of an object, with their exact type. Only for a literal object, which has no keys beyond its type. */
export function keysOf<T extends object>(of: T): readonly (keyof T & string)[] {
  return Object.keys(of).filter((key) => isKeyOf(of, key));
}

export function isKeyOf<T extends object>(of: T, key: string): key is keyof T & string {
  return Object.hasOwn(of, key);
}
