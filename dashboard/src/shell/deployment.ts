// What the console must know of the deployment before it asks for anything. The Worker says so in the page (src/app/console/routes.ts), so that
// the console asks for nothing that is not there.
const words = (document.querySelector<HTMLMetaElement>('meta[name="deployment"]')?.content ?? "").split(" ");

/** Nothing is served yet: the Worker answers every address with the page that says so. */
export const isNotSetUp = words.includes("not-set-up");

/** Mails are not sent, but shown at /dev/mail. */
export const hasMailbox = import.meta.env.DEV || words.includes("mailbox");

/** Names what an application asks for, on the page that it opened (src/accounts/applications/asked-page.ts). */
export const questionToken = words.find((word) => word.startsWith("question="))?.slice("question=".length);

/** `npm start` can run a chain of this machine, and pay on it. */
export const hasTestChain = import.meta.env.DEV || words.includes("test-chain");
