// Whom an address of a caller stands for, where requests are counted per caller.

/** An IPv6 caller owns its whole /64: its first four groups, written out. An IPv4 address is its own network, also mapped into IPv6. */
export function networkOf(ip: string): string {
  if (!ip.includes(":")) return ip;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip) ?? [];
  if (mapped !== undefined) return mapped;
  const [head = "", tail = ""] = ip.split("::");
  const before = head.split(":");
  const after = tail === "" ? [] : tail.split(":");
  const zeros = ip.includes("::") ? new Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0") : [];
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return groups.map((group) => Number.parseInt(group || "0", 16).toString(16)).join(":");
}

/** This very machine: what a development server sees of everybody. */
export function isLoopback(ip: string): boolean {
  return ip === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/i.test(ip);
}
