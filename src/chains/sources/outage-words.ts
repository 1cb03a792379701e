// Texts for operators: why a source of chain data failed, and what to do about it. They are fixed, so they contain no part of a URL or a key.
import type { OutageKind } from "../../lib/fetch-text.ts";

interface OutageWords {
  readonly message: string;
  readonly nextStep: string;
}

const WORDS: Readonly<Record<OutageKind, OutageWords>> = {
  TIMEOUT: {
    message: "It did not answer within the time limit",
    nextStep: "Try it again in a minute. If it stays slow, use a faster source, or put another one before it.",
  },
  UNREACHABLE: {
    message: "No connection to it could be made",
    nextStep:
      "Check its host and port in CHAIN_SOURCES, and that the server is running and reachable from the internet: a private address is not.",
  },
  RATE_LIMITED: {
    message: "It refuses because it was asked too often",
    nextStep:
      "Wait until it is asked again. If this repeats, use a key with a higher limit, add another source, or raise POLL_SECONDS.",
  },
  BANNED: {
    message: "It refuses this deployment or its key",
    nextStep:
      "Check that its key is valid and allows this network. If it needs no key, wait until it is asked again: requests during a ban prolong it. If this repeats, use a source with a key.",
  },
  UNAVAILABLE: {
    message: "It is temporarily unavailable (HTTP status 503)",
    nextStep: "Try it again in a few minutes. A second source would be read in the meantime.",
  },
  BAD_STATUS: {
    message: "It answered with an error",
    nextStep:
      "Check the path of its URL and its key in CHAIN_SOURCES: the wrong ones are usually answered with 401 or 404.",
  },
  NOT_JSON: {
    message: "It answered with a page instead of data",
    nextStep: "Check its URL and its kind in CHAIN_SOURCES: the URL may lead to a website or a sign-in page.",
  },
  TRUNCATED: {
    message: "Its answer ended too early",
    nextStep:
      "Try it again. If this repeats, the server or a proxy in front of it breaks off long answers: use another source.",
  },
  TOO_LARGE: {
    message: "Its answer was larger than any block can be",
    nextStep: "Check its URL and its kind in CHAIN_SOURCES.",
  },
  UNEXPECTED_SHAPE: {
    message: "Its answer was not what a source of this kind returns",
    nextStep: "Check its kind in CHAIN_SOURCES: the URL may be of another kind of source.",
  },
  REFUSED: {
    message: "It answers, but refused a call that is needed",
    nextStep:
      'Use a node or a plan that allows all the calls that are listed in the guide "Watching chains", under "Sources for each network".',
  },
  WRONG_CHAIN: {
    message: "It serves a different chain",
    nextStep: "Replace its URL in CHAIN_SOURCES with that of this network: it is not read.",
  },
  BEHIND: {
    message: "It lacks blocks that it should have",
    nextStep: "Wait until it has caught up with the chain. If it does not, use another source.",
  },
};

/** `detail`: the outage's message; only its HTTP status is used. */
export function outageWords(kind: OutageKind, detail = ""): OutageWords {
  const status = /^status (\d{3})$/.exec(detail)?.[1];
  const { message, nextStep } = WORDS[kind];
  const isNamed = status === undefined || kind === "UNAVAILABLE";
  return { message: isNamed ? message : `${message} (HTTP status ${status})`, nextStep };
}
