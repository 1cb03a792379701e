// `npm start`: migrates, seeds, serves; ready when it prints `Ready on <baseUrl>`; ends with all its children.
import { relative } from "node:path";
import "./end-with-parent.ts";
import { examples } from "./examples.ts";
import { type Server, startServer } from "./server.ts";
import { readSettings, StartError } from "./settings.ts";

/** What a shell reports for a process that a signal ended. */
const STOPPED_BY = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

let server: Server | undefined;
let stoppedBy: number | undefined;
for (const [signal, status] of Object.entries(STOPPED_BY)) {
  process.on(signal, () => {
    stoppedBy = status;
    // Children of an unfinished start end by themselves: they watch their parent.
    if (server === undefined) process.exit(status);
    server.stop();
  });
}

try {
  const settings = readSettings(process.env);
  const fromHere = relative(".", settings.home);
  const home = fromHere.startsWith("..") ? settings.home : fromHere;
  console.log(`Preparing the database in ${home} and starting the server ...`);
  server = await startServer(settings);
  console.log(`${server.isNew ? "Created" : "Kept"} the demo merchant and its keys: ${home}/demo.json.`);
  console.log(`Ready on ${settings.baseUrl}`);
  console.log(examples(server.demo));
  console.log(`Documentation: ${settings.baseUrl}/docs. Stop with Ctrl-C; everything is kept for the next start.`);
  const status = await server.ended;
  process.exit(stoppedBy ?? status ?? 1);
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exit(1);
}
