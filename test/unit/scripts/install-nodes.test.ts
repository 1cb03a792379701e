// Runs the real script, with a PATH that has the tools that it needs and stand-ins for apt and dpkg. The stand-ins fetch two tiny "nodes", a
// "Python", a "PHP" and a "browser".
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const SCRIPT = resolve("scripts/install-nodes.sh");
const TOOLS = ["sh", "cat", "chmod", "cp", "dirname", "grep", "head", "mkdir", "mv", "rm", "sed", "sort", "touch"];

/** A stand-in for apt that records its arguments, with an index that names a mirror. */
const APT = `#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in
  *indextargets*) echo "Ubuntu http://other.test/ubuntu"; echo "Debian http://mirror.test/debian-security"; echo "Debian http://mirror.test/debian" ;;
  *update*) exit "\${UPDATE_STATUS:-0}" ;;
  *install*)
    cat "$(dirname "$2")/sources.list" >>"$CALLS"
    echo "Inst libllvm19 (1:19.1 Debian:13/stable [cpu])"
    echo "Inst node (1:2.0+b1 Debian:13/stable [cpu]) []"
    echo "Conf node (1:2.0+b1 Debian:13/stable [cpu])" ;;
  *download*) touch nodes.deb ;;
esac
`;
/** A stand-in for dpkg. It unpacks programs that print their names, and a loader that starts one of them (`--library-path FOLDER PROGRAM ...`). */
const DPKG = `#!/bin/sh
mkdir -p "$3/usr/lib/cpu-linux-gnu" "$3/usr/lib/litecoin" "$3/usr/lib/chromium" "$3/usr/lib/php/2026" "$3/usr/bin"
touch "$3/usr/lib/php/2026/pdo_sqlite.so"
loader=$3/usr/lib/cpu-linux-gnu/ld-linux-cpu.so.2
printf '#!/bin/sh\\nshift 2\\nexec "$@"\\n' >"$loader"
printf '#!/bin/sh\\n%s\\n' "\${NODE_BODY:-echo bitcoind runs with "\\$@"}" >"$3/usr/bin/bitcoind"
printf '#!/bin/sh\\necho the wrapper\\n' >"$3/usr/bin/litecoind"
printf '#!/bin/sh\\necho litecoind runs\\n' >"$3/usr/lib/litecoin/litecoind"
printf '#!/bin/sh\\n%s\\n' "\${PYTHON_BODY:-echo python3 runs}" >"$3/usr/bin/python3"
printf '#!/bin/sh\\n%s\\n' "\${PHP_BODY:-echo php runs with "\\$@"}" >"$3/usr/bin/php8.4"
printf '#!/bin/sh\\necho "of $0 with $*, libraries $LD_LIBRARY_PATH, fonts $FONTCONFIG_SYSROOT"\\n' >"$3/usr/lib/chromium/chromium-headless-shell"
printf '#!/bin/sh\\necho "patchelf $1 $2" >>"$CALLS"\\n' >"$3/usr/bin/patchelf"
chmod +x "$loader" "$3/usr/bin/"* "$3/usr/lib/litecoin/litecoind" "$3/usr/lib/chromium/chromium-headless-shell"
`;

let folder: string;
let nodes: string;
let calls: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgetill-nodes-"));
  nodes = join(folder, "nodes");
  calls = join(folder, "calls");
  for (const tool of TOOLS) symlinkSync(execFileSync("which", [tool], { encoding: "utf8" }).trim(), join(folder, tool));
  command("python3", "#!/bin/sh\n");
  command("php", "#!/bin/sh\n");
  command("chromium", "#!/bin/sh\n");
});
afterEach(() => rmSync(folder, { recursive: true }));

function command(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

function haveApt(): void {
  command("apt-get", APT);
  command("dpkg-deb", DPKG);
}

function install(variables: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(join(folder, "sh"), [SCRIPT, nodes], {
    env: { PATH: folder, CALLS: calls, ...variables } as Partial<NodeJS.ProcessEnv> as NodeJS.ProcessEnv,
    encoding: "utf8",
  });
  return { status, said: stdout + stderr };
}

const called = () => (existsSync(calls) ? readFileSync(calls, "utf8") : "");
const run = (node: string, ...args: string[]) =>
  execFileSync(join(nodes, node, `${node}.sh`), args, { encoding: "utf8" }).trim();

describe("installing the nodes", () => {
  test("fetches both nodes from apt's mirror, which then run from the folder with their arguments", () => {
    haveApt();
    expect(install()).toMatchObject({ status: 0 });
    expect(called()).toContain("http://mirror.test/debian trixie-backports main");
    expect(called()).not.toMatch(/other\.test|debian-security/);
    expect(run("bitcoind", "-a", "b c")).toBe("bitcoind runs with -a b c");
    expect(run("litecoind")).toBe("litecoind runs");
    expect(readdirSync(nodes).sort()).toEqual(["bitcoind", "litecoind"]);
  });

  test("fetches nothing that is already installed", () => {
    haveApt();
    install();
    rmSync(calls);
    expect(install()).toMatchObject({ status: 0, said: expect.stringContaining("are already installed") });
    expect(called()).toBe("");
  });

  test("does not fetch a node that a variable names or that is on the PATH", () => {
    haveApt();
    command("litecoind", "#!/bin/sh\n");
    const BITCOIND = command("my-bitcoind", "#!/bin/sh\n");
    expect(install({ BITCOIND })).toMatchObject({ status: 0 });
    expect([called(), readdirSync(nodes)]).toEqual(["", []]);
  });

  test("stops if a named node does not run, because the tests would use it", () => {
    haveApt();
    const answer = install({ BITCOIND: join(folder, "absent") });
    expect(answer).toMatchObject({ status: 1, said: expect.stringContaining(`${folder}/absent`) });
    expect(called()).toBe("");
  });

  test("fetches Python once if none with its standard library is installed", () => {
    haveApt();
    command("python3", "#!/bin/sh\nexit 1\n");
    expect(install({ PYTHON_BODY: "exit 1" })).toMatchObject({
      status: 1,
      said: expect.stringContaining("python3 was fetched but does not run"),
    });
    expect(install()).toMatchObject({ status: 0 });
    expect(called()).toContain("--simulate systemd-standalone-sysusers python3\n");
    expect(run("python3")).toBe("python3 runs");
    rmSync(calls);
    expect(install()).toMatchObject({ status: 0, said: expect.stringContaining("are already installed") });
    expect(called()).toBe("");
  });

  test("fetches PHP once if none with PDO for SQLite and curl is installed, and loads these from the folder", () => {
    haveApt();
    command("php", "#!/bin/sh\nexit 1\n");
    expect(install({ PHP_BODY: "exit 1" })).toMatchObject({
      status: 1,
      said: expect.stringContaining("php was fetched but does not run"),
    });
    expect(install()).toMatchObject({ status: 0 });
    expect(called()).toContain("--simulate systemd-standalone-sysusers php-cli php-sqlite3 php-curl\n");
    const extensions = join(nodes, "php/root/usr/lib/php/2026");
    expect(run("php", "-v")).toBe(
      `php runs with -n -d extension_dir=${extensions} -d extension=pdo -d extension=pdo_sqlite -d extension=curl -v`,
    );
    rmSync(calls);
    expect(install()).toMatchObject({ status: 0, said: expect.stringContaining("are already installed") });
    expect(called()).toBe("");
  });

  test("fetches all dependencies except graphics drivers", () => {
    haveApt();
    install();
    expect(called()).toMatch(/ download node=1:2\.0\+b1\n/);
  });

  test("fetches Chromium if none is installed, with its loader, libraries and fonts from the folder", () => {
    haveApt();
    rmSync(join(folder, "chromium"));
    expect(install()).toMatchObject({ status: 0 });
    const root = join(nodes, "chromium/root");
    expect(called()).toContain(
      "systemd-standalone-sysusers bitcoin-knots/trixie-backports litecoind chromium-headless-shell",
    );
    expect(called()).toContain(`patchelf --set-interpreter ${root}/usr/lib/cpu-linux-gnu/ld-linux-cpu.so.2\n`);
    const libraries = `${root}/usr/lib/cpu-linux-gnu`;
    expect(run("chromium", "--a", "b")).toBe(
      `of ${root}/usr/lib/chromium/chromium-headless-shell with --a b, libraries ${libraries}:${libraries}/pulseaudio, fonts ${root}`,
    );
    rmSync(calls);
    expect(install()).toMatchObject({ status: 0, said: expect.stringContaining("are already installed") });
  });

  test("does not fetch Chromium if CHROMIUM names one, and fails if that one does not run", () => {
    haveApt();
    rmSync(join(folder, "chromium"));
    for (const each of ["bitcoind", "litecoind"]) command(each, "#!/bin/sh\n");
    expect(install({ CHROMIUM: command("my-browser", "#!/bin/sh\n") })).toMatchObject({ status: 0 });
    expect(install({ CHROMIUM: join(folder, "absent") })).toMatchObject({ status: 1 });
    expect([called(), readdirSync(nodes)]).toEqual(["", []]);
  });

  test("removes what was fetched but does not run", () => {
    haveApt();
    const answer = install({ NODE_BODY: "exit 1" });
    expect(answer).toMatchObject({ status: 1, said: expect.stringContaining("bitcoind was fetched but does not run") });
    expect(readdirSync(nodes)).toEqual([]);
  });

  test("fails when the index cannot be fetched, and leaves no files", () => {
    haveApt();
    expect(install({ UPDATE_STATUS: "100" })).toMatchObject({ status: 1 });
    expect(readdirSync(nodes)).toEqual([]);
  });

  test("says what to do if apt is not installed", () => {
    expect(install()).toMatchObject({
      status: 1,
      said: expect.stringMatching(/apt-get is missing.*BITCOIND, LITECOIND and CHROMIUM/s),
    });
  });
});
