// Shown instead of a page or a part of it that could not be read, threw an error, or does not exist.
import { Alert, Button, Center, Group, Loader, Stack, Text, Title } from "@mantine/core";
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { ApiError, ConnectionError } from "../api/errors.ts";

/** A failed read: the reason, and how to continue. */
export function Problem({ error, retry }: { readonly error: Error; readonly retry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <Alert color="red" title="This could not be loaded" role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {requestId !== undefined && (
          <Text size="xs" className="mono">
            {requestId}
          </Text>
        )}
        <Group>
          {retry !== undefined && (
            <Button size="xs" variant="default" onClick={retry}>
              Try again
            </Button>
          )}
          {error instanceof ApiError && error.code === "SECURITY_REQUIREMENT_NOT_MET" && (
            <Button size="xs" component={Link} to="/console/account">
              Go to your account
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

/** Shown if a page throws; the rest of the console stays. */
export function BrokenPage({ error, reset }: ErrorComponentProps) {
  if (error instanceof ApiError || error instanceof ConnectionError) {
    return (
      <Stack>
        <Title order={1}>This page did not load</Title>
        <Problem error={error} retry={reset} />
      </Stack>
    );
  }
  return (
    <Alert color="red" title="Something went wrong in the console" role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">This page could not be displayed. None of your data was changed.</Text>
        <Text size="xs" className="mono">
          {error instanceof Error ? error.message : String(error)}
        </Text>
        <Button size="xs" variant="default" onClick={() => location.reload()}>
          Reload the console
        </Button>
      </Stack>
    </Alert>
  );
}

export function NoSuchPage() {
  return (
    <Center py="xl">
      <Stack align="center" gap="sm">
        <Title order={1}>Page not found</Title>
        <Text c="dimmed">The URL may be mistyped, or the page may have moved.</Text>
        <Button component={Link} to="/console" variant="default">
          Go to the console
        </Button>
      </Stack>
    </Center>
  );
}

export function Loading() {
  return (
    <Center py="xl" mih={200}>
      <Loader />
    </Center>
  );
}
