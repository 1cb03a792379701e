// The fields of a new or existing endpoint.
import { Group, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { changedFields } from "../api/changed-fields.ts";
import { ApiError, wholeFieldErrors } from "../api/errors.ts";
import { listed } from "../api/listed.ts";
import type { CreateWebhookBody, NewWebhook, Webhook } from "../api/operations.ts";
import { showDone, useChange } from "../api/queries.ts";
import { fieldText, numberError, wireNumber } from "../shell/amounts.ts";
import { hasMailbox } from "../shell/deployment.ts";
import { Form, type Inputs, refusedIn } from "../shell/form.tsx";
import { useMerchant } from "../shell/merchants.ts";
import { NumberField } from "../shell/number-field.tsx";
import { eventNames, type Heard, heardBy } from "./heard.ts";
import { HearsField } from "./hears-field.tsx";

/** The limits of the contract (webhooks/contract.ts). */
const LONGEST = { url: 2_048, description: 500 } as const;
const USUAL_RETRIES = 9;
const RETRIES = { digits: 0, most: 10n } as const;
const TIMEOUT_SECONDS = { digits: 3, least: 1n, most: 30n } as const;

interface Props {
  /** The endpoint to change; undefined for a new one. */
  readonly endpoint?: Webhook;
  readonly onClose: () => void;
  readonly onMade?: (made: NewWebhook) => void;
}

interface Values extends Heard {
  readonly url: string;
  readonly description: string;
  /** The text as the user typed it. */
  readonly retryCount: string;
  readonly timeoutSeconds: string;
}

export function EndpointFields(props: Props) {
  const { form, send, isBusy } = useEndpointForm(props);
  return (
    <Form onSubmit={send} action={props.endpoint === undefined ? "Create endpoint" : "Save"} isBusy={isBusy}>
      <TextInput
        label="URL"
        description="Where your server receives events. Use https and a public host name."
        placeholder="https://shop.example.com/webhooks"
        type="url"
        required
        maxLength={LONGEST.url}
        data-autofocus
        {...form.getInputProps("url")}
      />
      <TextInput
        label="Description"
        description="For your team only; it is never sent."
        maxLength={LONGEST.description}
        {...form.getInputProps("description")}
      />
      <HearsField
        form={form}
        heard={form.values}
        {...(props.endpoint === undefined && { onFormat: (format) => form.setValues(heardBy(undefined, format)) })}
      />
      <PatienceFields form={form} />
    </Form>
  );
}

/** The fields for how often a delivery is tried, and how long each attempt may take. */
function PatienceFields({ form }: { readonly form: Inputs<"retryCount" | "timeoutSeconds"> }) {
  return (
    <Group grow align="flex-start">
      <NumberField
        label="Retries"
        hint="Number of attempts after the first one fails."
        rule={RETRIES}
        {...form.getInputProps("retryCount")}
      />
      <NumberField
        label="Timeout"
        hint="A slower response counts as failed."
        unit="seconds"
        rule={TIMEOUT_SECONDS}
        {...form.getInputProps("timeoutSeconds")}
      />
    </Group>
  );
}

function useEndpointForm({ endpoint, onClose, onMade }: Props) {
  const { id: merchantId } = useMerchant();
  const form = useForm<Values>({
    initialValues: valuesOf(endpoint),
    validate: {
      url: (url) => (isTakenUrl(url.trim()) ? null : "Enter a URL that starts with https://"),
      events: (events, { hears }) => (hears === "CHOSEN" && events.length === 0 ? "Choose at least one event" : null),
      retryCount: (text) => numberError(text, RETRIES),
      timeoutSeconds: (text) => numberError(text, TIMEOUT_SECONDS),
    },
  });
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
      showDone("Endpoint saved.");
      onClose();
    },
  });
  const send = form.onSubmit((values) => {
    if (endpoint === undefined) {
      create.mutate({ merchantId, body: bodyOf(values) }, refusedIn(form, formErrors));
      return;
    }
    const body = changedFields(bodyOf(form.getInitialValues()), bodyOf(values));
    if (Object.keys(body).length === 0) onClose();
    else update.mutate({ merchantId, params: { webhookId: endpoint.id }, body }, refusedIn(form, formErrors));
  });
  return { form, send, isBusy: create.isPending || update.isPending };
}

/**
 * The API's errors by the form's fields: the API's `timeout` is `timeoutSeconds` in the form. The URL field also shows why the service refuses the
 * URL.
 */
function formErrors(error: Error): Readonly<Record<string, string>> {
  const { timeout, ...errors } = wholeFieldErrors(error);
  const isOfUrl = error instanceof ApiError && error.code === "WEBHOOK_URL_REFUSED";
  return {
    ...errors,
    ...(isOfUrl ? { url: error.message } : {}),
    ...(timeout === undefined ? {} : { timeoutSeconds: timeout }),
  };
}

function valuesOf(endpoint: Webhook | undefined): Values {
  return {
    ...heardBy(endpoint),
    url: endpoint?.url ?? "",
    description: endpoint?.description ?? "",
    retryCount: fieldText(endpoint?.retryCount ?? USUAL_RETRIES),
    timeoutSeconds: fieldText((endpoint?.timeout ?? 15_000) / 1_000),
  };
}

function bodyOf(values: Values): CreateWebhookBody {
  const { url, description, format, retryCount, timeoutSeconds } = values;
  return {
    url: url.trim(),
    description: description.trim() || null,
    events: eventNames(values).map((name) => listed(name)),
    ...(format === "GREENFIELD" && { format }),
    retryCount: wireNumber(retryCount, RETRIES),
    timeout: Math.round(wireNumber(timeoutSeconds, TIMEOUT_SECONDS) * 1_000),
  };
}

/** A first check of the URL; the service makes the decision. A development server also accepts http to its own machine. */
function isTakenUrl(url: string): boolean {
  return /^https:\/\/./.test(url) || (hasMailbox && /^http:\/\/(localhost|127\.0\.0\.1)[:/]/.test(url));
}
