import { Alert, Badge, List, Progress, SimpleGrid, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { DeploymentStatus } from "../api/operations.ts";
import { Read } from "../shell/read.tsx";
import { useFormats } from "../shell/reader.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { AlertsPart } from "./test-alert.tsx";
import { useStatus } from "./use-status.ts";

export function StatusSection() {
  const status = useStatus();
  return (
    <Section
      title="Status"
      about="Monitoring tools can read the same status at /healthz."
      actions={
        status.data !== undefined &&
        (status.data.status === "OK" ? <Badge color="green">Healthy</Badge> : <Badge color="red">Failing</Badge>)
      }
    >
      <Read query={status}>
        {(read) => (
          <Stack>
            {read.reasons.length > 0 && <Reasons reasons={read.reasons} />}
            <Facts status={read} />
            <AlertsPart alerts={read.alerts} />
          </Stack>
        )}
      </Read>
    </Section>
  );
}

function Reasons({ reasons }: Pick<DeploymentStatus, "reasons">) {
  return (
    <Alert color="red" title={reasons.length === 1 ? "1 problem" : `${reasons.length} problems`}>
      <List spacing="xs">
        {reasons.map(({ code, network, since, detail }) => (
          <List.Item key={`${code} ${network} ${detail}`} style={{ overflowWrap: "anywhere" }}>
            {sentence(detail)}
            {since !== null && (
              <>
                {" "}
                Since <Time value={since} />.
              </>
            )}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

/** Turns a reason of the service into a sentence. Like log lines, reasons have no capital letter and no full stop. */
function sentence(detail: string): string {
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
}

function Facts({ status }: { readonly status: DeploymentStatus }) {
  const { cron, database, invoices, deliveries, receipts, mails } = status;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="lg">
      <Fact name="Scheduled jobs">{cron.lastRunAt === null ? "Not run yet" : <Time value={cron.lastRunAt} />}</Fact>
      <Database {...database} />
      <Due name="Invoices past their expiry" due={invoices.unsettled} since={invoices.oldestDueAt} />
      <Due name="Webhook deliveries" due={deliveries.due} since={deliveries.oldestDueAt} />
      <Due name="Receipts" due={receipts.due} since={receipts.oldestDueAt} />
      <Due name="Invitation and notification emails" due={mails.due} since={mails.oldestDueAt} />
    </SimpleGrid>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Stack gap={2} miw={0}>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text component="div" fw={550} className="numbers">
        {children}
      </Text>
    </Stack>
  );
}

const GIGABYTE = 1_000_000_000;
const MEGABYTE = 1_000_000;

function Database({ bytes, limitBytes }: DeploymentStatus["database"]) {
  const { count } = useFormats();
  const share = limitBytes === 0 ? 0 : bytes / limitBytes;
  const size = bytes < GIGABYTE ? `${count(Math.round(bytes / MEGABYTE))} MB` : `${count(tenths(bytes))} GB`;
  return (
    <Fact name="Database">
      {size} of {count(tenths(limitBytes))} GB
      <Progress value={100 * share} color={share > 0.8 ? "red" : "indigo"} mt={6} aria-label="Database usage" />
    </Fact>
  );
}

function tenths(bytes: number): number {
  return Math.round((10 * bytes) / GIGABYTE) / 10;
}

interface DueProps {
  readonly name: string;
  readonly due: number;
  readonly since: string | null;
}

/** Work that is overdue. */
function Due({ name, due, since }: DueProps) {
  const { count } = useFormats();
  return (
    <Fact name={name}>
      {due === 0 && since === null ? "None waiting" : `${count(due)} waiting`}
      {since !== null && (
        <Text size="sm" c="dimmed" component="div">
          oldest from <Time value={since} />
        </Text>
      )}
    </Fact>
  );
}
