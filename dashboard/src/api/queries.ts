// Reads and writes through the API, for components, with TanStack Query. A write marks all cached data as stale: only the service knows what it
// affects (an invoice, its list, the totals).
import { notifications } from "@mantine/notifications";
import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { type AnswerOf, call, type InputOf, type OperationId } from "./call.ts";
import { connection } from "./connection.ts";
import { ApiError, ConnectionError, isPassing, StepUpCancelled, withRequestId } from "./errors.ts";

const STALE_AFTER_MS = 15_000;
const TRIES = 4;
const LONGEST_PAUSE_MS = 10_000;

/** `signedOut` is called when the session has ended, or lacks its second factor. */
export function createQueryClient(signedOut: () => void): QueryClient {
  const check = (error: Error) => {
    if (error instanceof ApiError && isSignedOut(error)) signedOut();
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError: check }),
    mutationCache: new MutationCache({
      onError: (error, _input, _context, mutation) => {
        check(error);
        if (mutation.meta?.isShownInPlace !== true) showError(error);
      },
      // A query that was refused is not refetched, because that would replace the form that is shown instead of its data.
      onSuccess: () => client.invalidateQueries({ predicate: ({ state }) => state.data !== undefined }),
    }),
    defaultOptions: {
      queries: { staleTime: STALE_AFTER_MS, retry: mayRetry, retryDelay, throwOnError: false },
      mutations: { retryDelay },
    },
  });
  // Queries that failed while the service was down are retried once it is back.
  connection.subscribe(() => {
    if (!connection.isLost()) void client.invalidateQueries();
  });
  return client;
}

export function isSignedOut({ code }: ApiError): boolean {
  return code === "UNAUTHORIZED" || code === "SECOND_FACTOR_REQUIRED";
}

/** Waits for a lost connection; retries other temporary failures a few times. */
function mayRetry(failures: number, error: Error): boolean {
  return error instanceof ConnectionError || (isPassing(error) && failures < TRIES);
}

function retryDelay(failures: number): number {
  return Math.min(1_000 * 2 ** failures, LONGEST_PAUSE_MS);
}

/** Shows why a change failed, unless the user cancelled it. */
export function showError(error: Error): void {
  if (error instanceof StepUpCancelled) return;
  notifications.show({
    color: "red",
    title: "Something went wrong",
    message: withRequestId(error),
    autoClose: 10_000,
  });
}

/** A message that is more than text has a button, such as Undo: it stays for a minute. */
export function showDone(message: ReactNode): void {
  notifications.show({ color: "green", message, autoClose: typeof message === "string" ? 4_000 : 60_000 });
}

export function reading<K extends OperationId>(operation: K, input: InputOf<K>) {
  return queryOptions({
    queryKey: [operation, input] as const,
    queryFn: ({ signal }) => call(operation, input, { signal }),
  });
}

/** The refetch interval while visible; false if live updates are enough. */
type ReadAgain<K extends OperationId> = (read: AnswerOf<K> | undefined) => number | false;

/** While the next page or filter loads, the previous rows stay. */
export function useList<K extends OperationId>(operation: K, input: InputOf<K>, readAgain?: ReadAgain<K>) {
  return useQuery({
    ...reading(operation, input),
    placeholderData: keepPreviousData,
    refetchInterval: readAgain === undefined ? false : ({ state }) => readAgain(state.data),
  });
}

interface Page<Row> {
  readonly data: readonly Row[];
  readonly nextCursor: string | null;
}

/** The rows of a list that are loaded so far; further pages load on request. `key` names the operation and its input. */
export function useGrowingList<Row>(
  key: readonly unknown[],
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Row>>,
) {
  return useInfiniteQuery<Page<Row>, Error, readonly Row[], readonly unknown[], string | undefined>({
    queryKey: [...key, "all"],
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  });
}

interface ChangeOptions<K extends OperationId> {
  readonly onSuccess?: (answer: AnswerOf<K>) => void;
  /** Leaves the page of a deleted object, which could no longer be fetched. */
  readonly leave?: () => Promise<void>;
  /** Whether the component itself shows the error, at its fields or next to the form. */
  readonly isShownInPlace?: boolean;
  /** False if a repeated call would be refused, such as one with a code that works once. */
  readonly isRepeatable?: boolean;
}

/**
 * A write, retried with the same Idempotency-Key while its failure is temporary. If the user sends the same input again after a failure, the key is
 * reused; different input, or the input after a success, gets a new key.
 */
export function useChange<K extends OperationId>(operation: K, options: ChangeOptions<K> = {}) {
  const { onSuccess, leave, isShownInPlace = false, isRepeatable = true } = options;
  const client = useQueryClient();
  const intent = useRef<Intent | undefined>(undefined);
  return useMutation({
    mutationFn: async (input: InputOf<K>) => {
      intent.current = intentOf(intent.current, JSON.stringify(input));
      const answer = await call(operation, input, { idempotencyKey: intent.current.key });
      // A cached list would briefly show the deleted object.
      if (operation.startsWith("delete")) client.removeQueries({ type: "inactive" });
      await leave?.();
      return answer;
    },
    meta: { isShownInPlace },
    retry: (failures, error) => isRepeatable && isPassing(error) && failures < TRIES,
    onSuccess: (answer) => {
      intent.current = undefined;
      onSuccess?.(answer);
    },
  });
}

interface Intent {
  readonly text: string;
  readonly key: string;
}

function intentOf(last: Intent | undefined, text: string): Intent {
  return last?.text === text ? last : { text, key: crypto.randomUUID() };
}
