import { Alert, Anchor, Button, CopyButton, Group, Image, Modal, SimpleGrid, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { Product } from "../api/operations.ts";
import { showDone, useChange, useList } from "../api/queries.ts";
import { Fact } from "../invoices/fact.tsx";
import { ConfirmTyped } from "../shell/confirm-typed.tsx";
import { CopyText } from "../shell/copy-text.tsx";
import { Icon } from "../shell/icons.tsx";
import { useMay } from "../shell/merchants.ts";
import { PageHeader } from "../shell/page-header.tsx";
import { Read } from "../shell/read.tsx";
import { Section } from "../shell/section.tsx";
import { Time } from "../shell/time.tsx";
import { usePrice } from "./price.ts";
import { ProductForm } from "./product-form.tsx";
import { ShareSection } from "./share-section.tsx";
import { ProductState } from "./state.tsx";

export function ProductPage() {
  const params = useParams({ from: "/frame/merchant/console/$merchantId/products/$productId" });
  const { merchantId, productId } = params;
  const product = useList("getProduct", { merchantId, params: { productId } });
  return (
    <Stack gap={0}>
      <Anchor component={Link} to={`/console/${merchantId}/products`} size="sm" mb="xs">
        All products
      </Anchor>
      <Read query={product}>{(data) => <TheProduct product={data} />}</Read>
    </Stack>
  );
}

function TheProduct({ product }: { readonly product: Product }) {
  return (
    <>
      <PageHeader
        title={product.name}
        mark={<ProductState product={product} />}
        subtitle={product.description ?? undefined}
        actions={<Actions product={product} />}
      />
      <Stack gap="lg">
        {!product.isActive && (
          <Alert color="gray" title="Not for sale right now">
            The product's page says so to visitors. Open invoices for this product can still be paid.
          </Alert>
        )}
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <SummarySection product={product} />
          <ShareSection product={product} />
        </SimpleGrid>
      </Stack>
    </>
  );
}

const ASKED = [
  ["askForName", "name"],
  ["askForAddress", "address"],
  ["askForPhoneNumber", "phone number"],
] as const;

function SummarySection({ product }: { readonly product: Product }) {
  const priceOf = usePrice();
  const asked = ASKED.flatMap(([field, name]) => (product[field] ? [name] : []));
  return (
    <Section title="Summary">
      {product.image !== null && (
        <Image src={product.image} alt={`Image of ${product.name}`} mah={220} fit="contain" radius="md" />
      )}
      <Stack component="dl" m={0} gap="xs">
        <Fact name="Price">{priceOf(product)}</Fact>
        <Fact name="Buyer details">{asked.length === 0 ? "nothing" : asked.join(", ")}</Fact>
        <Fact name="Created">
          <Time value={product.createdAt} />
        </Fact>
        <Fact name="Last changed">
          <Time value={product.updatedAt} />
        </Fact>
        <Fact name="ID">
          <CopyText value={product.id} name="the ID" />
        </Fact>
      </Stack>
    </Section>
  );
}

function Actions({ product }: { readonly product: Product }) {
  const { id: productId, merchantId, checkoutUrl } = product;
  const mayUpdate = useMay("product:update");
  const mayDelete = useMay("product:delete");
  const navigate = useNavigate();
  const [isEditing, editing] = useDisclosure();
  const remove = useChange("deleteProduct", {
    onSuccess: () => {
      showDone("Product deleted.");
      void navigate({ to: "/console/$merchantId/products", params: { merchantId } });
    },
  });
  return (
    <Group gap="xs">
      <CopyButton value={checkoutUrl} timeout={2_000}>
        {({ copied, copy }) => (
          <Button onClick={copy} leftSection={<Icon name={copied ? "check" : "copy"} size={16} />}>
            {copied ? "Copied" : "Copy link"}
          </Button>
        )}
      </CopyButton>
      {mayUpdate && (
        <>
          <Button variant="default" onClick={editing.open}>
            Edit
          </Button>
          <SaleButton product={product} />
        </>
      )}
      {mayDelete && (
        <ConfirmTyped
          action="Delete"
          word={product.name}
          isBusy={remove.isPending}
          consequence="The link to its page stops working, and this cannot be undone. Its invoices are kept. To stop selling it for a while, take it off sale instead."
          onConfirmed={() => remove.mutate({ merchantId, params: { productId } })}
        />
      )}
      <Modal opened={isEditing} onClose={editing.close} title="Edit product" size="lg">
        <ProductForm
          product={product}
          onSaved={() => {
            showDone("Product saved.");
            editing.close();
          }}
        />
      </Modal>
    </Group>
  );
}

/** The same button undoes the change, so there is no confirmation. */
function SaleButton({ product: { id: productId, merchantId, isActive } }: { readonly product: Product }) {
  const update = useChange("updateProduct", {
    onSuccess: (changed) => showDone(changed.isActive ? "Product put on sale." : "Product taken off sale."),
  });
  return (
    <Button
      variant="default"
      loading={update.isPending}
      onClick={() => update.mutate({ merchantId, params: { productId }, body: { isActive: !isActive } })}
    >
      {isActive ? "Take off sale" : "Put on sale"}
    </Button>
  );
}
