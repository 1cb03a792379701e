// The fields of an endpoint, new or to change.
import { Button, Group, MultiSelect, NumberInput, Radio, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { changedFields } from "../api/changed-fields.ts";
import { ApiError, wholeFieldErrors } from "../api/errors.ts";
import type { CreateWebhookBody, NewWebhook, Webhook } from "../api/operations.ts";
import { showDone, showError, useChange } from "../api/queries.ts";
import { hasMailbox } from "../shell/deployment.ts";
import { useMerchant } from "../shell/merchants.ts";
import { EVENT_GROUPS } from "./event-groups.ts";

/** As the contract has them (webhooks/contract.ts). */
const LONGEST = { url: 2_048, description: 500 } as const;
const MOST_RETRIES = 9;
const TIMEOUT_SECONDS = { least: 1, most: 30 } as const;

interface Props {
  /** To change; undefined for a new one. */
  readonly endpoint?: Webhook;
  readonly onClose: () => void;
  readonly onMade?: (made: NewWebhook) => void;
}

interface Values {
  readonly url: string;
  readonly description: string;
  readonly hears: "ALL" | "CHOSEN";
  readonly events: string[];
  readonly retryCount: number | string;
  readonly timeoutSeconds: number | string;
}

export function EndpointFields({ endpoint, onClose, onMade }: Props) {
  const { id: merchantId } = useMerchant();
  const form = useForm<Values>({
    initialValues: valuesOf(endpoint),
    validate: {
      url: (url) => (isTakenUrl(url.trim()) ? null : "Enter an address that begins with https://"),
      events: (events, { hears }) => (hears === "CHOSEN" && events.length === 0 ? "Choose at least one" : null),
    },
  });
  const onError = (error: Error) => {
    const { timeout, ...errors } = wholeFieldErrors(error);
    const isOfUrl = error instanceof ApiError && error.code === "WEBHOOK_URL_REFUSED";
    form.setErrors({
      ...errors,
      ...(isOfUrl ? { url: error.message } : {}),
      ...(timeout === undefined ? {} : { timeoutSeconds: timeout }),
    });
    showError(error);
  };
  const create = useChange("createWebhook", {
    isShownInPlace: true,
    onSuccess: (made) => {
      onClose();
      onMade?.(made);
    },
  });
  const update = useChange("updateWebhook", {
    isShownInPlace: true,
    onSuccess: () => {
      showDone("The endpoint was changed.");
      onClose();
    },
  });
  const send = form.onSubmit((values) => {
    if (endpoint === undefined) {
      create.mutate({ merchantId, body: bodyOf(values) }, { onError });
      return;
    }
    const body = changedFields(bodyOf(form.getInitialValues()), bodyOf(values));
    if (Object.keys(body).length === 0) onClose();
    else update.mutate({ merchantId, params: { webhookId: endpoint.id }, body }, { onError });
  });
  return (
    <form onSubmit={send} noValidate>
      <Stack>
        <TextInput
          label="URL"
          description="Where your server takes events: https, with a public host name."
          placeholder="https://shop.example.com/webhooks"
          type="url"
          required
          maxLength={LONGEST.url}
          data-autofocus
          {...form.getInputProps("url")}
        />
        <TextInput
          label="Description"
          description="For your team; it is never sent."
          maxLength={LONGEST.description}
          {...form.getInputProps("description")}
        />
        <Radio.Group label="What it hears" {...form.getInputProps("hears")}>
          <Group mt={6}>
            <Radio value="ALL" label="Every event" />
            <Radio value="CHOSEN" label="Those that I choose" />
          </Group>
        </Radio.Group>
        {form.values.hears === "CHOSEN" && (
          <MultiSelect
            label="Events"
            description="A name with a star is every event of its kind, those to come included."
            data={[...EVENT_GROUPS, "ping"]}
            searchable
            clearable
            clearButtonProps={{ "aria-label": "No event" }}
            {...form.getInputProps("events")}
          />
        )}
        <Group grow align="flex-start">
          <NumberInput
            label="Retries"
            description="After a first failure."
            min={0}
            max={MOST_RETRIES}
            allowDecimal={false}
            hideControls
            {...form.getInputProps("retryCount")}
          />
          <NumberInput
            label="Wait for an answer"
            description="Then it counts as failed."
            min={TIMEOUT_SECONDS.least}
            max={TIMEOUT_SECONDS.most}
            suffix=" seconds"
            decimalScale={3}
            hideControls
            {...form.getInputProps("timeoutSeconds")}
          />
        </Group>
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending || update.isPending}>
            {endpoint === undefined ? "Create the endpoint" : "Save"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function valuesOf(endpoint: Webhook | undefined): Values {
  const isAll = endpoint === undefined || endpoint.events.includes("*");
  return {
    url: endpoint?.url ?? "",
    description: endpoint?.description ?? "",
    hears: isAll ? "ALL" : "CHOSEN",
    events: isAll ? [] : [...endpoint.events],
    retryCount: endpoint?.retryCount ?? MOST_RETRIES,
    timeoutSeconds: (endpoint?.timeout ?? 15_000) / 1_000,
  };
}

function bodyOf({ url, description, hears, events, retryCount, timeoutSeconds }: Values): CreateWebhookBody {
  const names = hears === "ALL" ? ["*"] : events;
  return {
    url: url.trim(),
    description: description.trim() || null,
    events: names as readonly string[] as CreateWebhookBody["events"],
    retryCount: Number(retryCount),
    timeout: Math.round(Number(timeoutSeconds) * 1_000),
  };
}

/** A server of a developer's own machine also takes http there. The service has the last word. */
function isTakenUrl(url: string): boolean {
  return /^https:\/\/./.test(url) || (hasMailbox && /^http:\/\/(localhost|127\.0\.0\.1)[:/]/.test(url));
}
