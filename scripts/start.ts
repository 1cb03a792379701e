// `npm start`: migrates, seeds, serves; ready when it prints `Ready on <baseUrl>`; ends with all its children.
import { relative } from "node:path";
import "./end-with-parent.ts";
import { openControlPort } from "./control-port.ts";
import { examples } from "./examples.ts";
import { type Server, startServer } from "./server.ts";
import { readSettings, StartError } from "./settings.ts";

/** The exit status of a process ended by a signal, as in a shell. */
const STOPPED_BY = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

let server: Server | undefined;
let stoppedBy: number | undefined;
for (const [signal, status] of Object.entries(STOPPED_BY)) {
  process.on(signal, () => {
    stoppedBy = status;
    // The children of an unfinished start end automatically, because they watch their parent.
    if (server === undefined) process.exit(status);
    server.stop();
  });
}

try {
  const given = readSettings(process.env);
  // If sources are configured, they are watched and no test chain is offered.
  const control = given.variables.CHAIN_SOURCES === "{}" ? await openControlPort(given.home) : undefined;
  const settings = { ...given, variables: { ...given.variables, ...control?.variables } };
  const fromHere = relative(".", settings.home);
  const home = fromHere.startsWith("..") ? settings.home : fromHere;
  console.log(`Preparing the database in ${home} and starting the server ...`);
  server = await startServer(settings);
  await control?.resume();
  const { baseUrl } = settings;
  console.log(`Ready on ${baseUrl}`);
  console.log(`
Open ${baseUrl} in a browser and sign in with any email address.
The code is in the mailbox of this server: ${baseUrl}/dev/mail
The demo merchant belongs to ${server.demo.ownerEmail}; its keys are in ${home}/demo.json (${server.isNew ? "created" : "kept"}).

The same without a browser, for a terminal of its own:`);
  console.log(examples(server.demo));
  console.log(`Console: ${baseUrl}   Its mails: ${baseUrl}/dev/mail   API: ${baseUrl}/docs`);
  console.log(`Stop with Ctrl-C; everything is kept for the next start.`);
  const status = await server.ended;
  await control?.stop();
  process.exit(stoppedBy ?? status ?? 1);
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exit(1);
}
