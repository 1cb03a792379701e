// `npm run lock:complete`, after every change to the packages: makes package-lock.json independent of the registry that wrote it. If a mirror lacks
// the packages for other systems, npm silently omits them; npm 11's `npm ci` then refuses the lock file, and on such a system the compiled part would
// be missing. This adds an entry for each missing package, marked for its system and fetched only there, with the hash that the registry gives: a
// package without a hash would be installed unchecked. Registry URLs are removed, so everyone installs from their own registry. Running it twice
// changes nothing.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const LOCK_FILE = "package-lock.json";
const EXACT_VERSION = /^\d+\.\d+\.\d+/;
/** Operating systems as written in package names, and npm's names for them. */
const SYSTEMS = new Map([
  ["darwin", "darwin"],
  ["windows", "win32"],
  ["win32", "win32"],
  ["android", "android"],
  ["freebsd", "freebsd"],
  ["linux", "linux"],
]);
const PROCESSORS = new Map([
  ["arm64", "arm64"],
  ["x64", "x64"],
  ["amd64", "x64"],
  ["64", "x64"],
]);
const C_LIBRARIES = new Map([
  ["musl", "musl"],
  ["gnu", "glibc"],
]);

const before = readFileSync(LOCK_FILE, "utf8");
const lock = JSON.parse(before);
const packages = lock.packages;

for (const [path, entry] of Object.entries(packages)) {
  // The `resolved` of a workspace is its folder, so it is kept.
  if (entry.link !== true) delete entry.resolved;
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {}))
    addIfAbsent(path, entry, name, version);
}
for (const [path, entry] of Object.entries(packages)) {
  if (!path.includes("node_modules/") || entry.link === true || entry.integrity !== undefined) continue;
  // The client in this repository: the example shops install it from a file, so it has no hash.
  if (path === "node_modules/edgetill") continue;
  const { version, ...more } = entry;
  // The fields in npm's order.
  packages[path] = { version, integrity: integrityOf(path, entry), ...more };
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));

const after = `${JSON.stringify(lock, null, 2)}\n`;
if (after === before) console.log(`${LOCK_FILE} is complete.`);
else writeFileSync(LOCK_FILE, after);

function addIfAbsent(path, parent, name, version) {
  const places = placesOf(path, name);
  const present = places.find((place) => packages[place] !== undefined);
  if (present !== undefined && (packages[present].version === version || !EXACT_VERSION.test(version))) return;
  // Node would find a different version, so this one goes below its parent.
  const place = present === undefined ? `node_modules/${name}` : places[0];
  const { cpu, libc, os } = systemOf(name, version);
  // The fields in npm's order. Undefined ones are not written.
  packages[place] = { version, cpu, dev: parent.dev, libc, optional: true, os };
  console.log(`added ${place} ${version}`);
}

/** The SHA-512 of a package, as the registry states it. */
function integrityOf(path, { name = path.replace(/^.*node_modules\//, ""), version }) {
  const spec = `${name}@${version}`;
  const isWindows = process.platform === "win32";
  const integrity = execFileSync("npm", ["view", spec, "dist.integrity"], {
    encoding: "utf8",
    shell: isWindows,
  }).trim();
  if (/^sha512-[\w+/]{86}==$/.test(integrity)) return integrity;
  console.error(`${spec} has no integrity: run this again where npm's registry knows the package.`);
  process.exit(1);
}

/** Where Node looks for `name` from the package at `path`, nearest first. */
function placesOf(path, name) {
  const places = [];
  let from = path;
  while (from !== "") {
    places.push(`${from}/node_modules/${name}`);
    from = from.slice(0, Math.max(0, from.lastIndexOf("node_modules/") - 1));
  }
  return [...places, `node_modules/${name}`];
}

function systemOf(name, version) {
  const words = name.split(/[/-]/);
  const os = words.map((word) => SYSTEMS.get(word)).find((each) => each !== undefined);
  const cpu = words.map((word) => PROCESSORS.get(word)).findLast((each) => each !== undefined);
  const libc = words.map((word) => C_LIBRARIES.get(word)).find((each) => each !== undefined);
  if (os === undefined || cpu === undefined || !EXACT_VERSION.test(version)) {
    console.error(
      `${name} ${version} is absent and its name does not say for which system it is: teach ${import.meta.url}.`,
    );
    process.exit(1);
  }
  return { cpu: [cpu], libc: libc === undefined ? undefined : [libc], os: [os] };
}
