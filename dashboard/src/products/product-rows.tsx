import { Avatar, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Product } from "../api/operations.ts";
import { CopyIcon } from "../shell/copy-text.tsx";
import { Icon } from "../shell/icons.tsx";
import { type Column, Rows } from "../shell/rows.tsx";
import { Time } from "../shell/time.tsx";
import { usePrice } from "./price.ts";
import { ProductState } from "./state.tsx";

interface Props {
  readonly products: readonly Product[];
  readonly isStale: boolean;
}

export function ProductRows({ products, isStale }: Props) {
  const priceOf = usePrice();
  const columns: readonly Column<Product>[] = [
    { name: "Product", maxWidth: 320, show: (product) => <ProductLink product={product} /> },
    { name: "Status", show: (product) => <ProductState product={product} /> },
    { name: "Price", isNumeric: true, show: priceOf },
    { name: "Created", show: ({ createdAt }) => <Time value={createdAt} /> },
    { name: "Link", isAction: true, show: (product) => <CopyLink product={product} /> },
  ];
  return (
    <Rows
      rows={products}
      columns={columns}
      isStale={isStale}
      card={(product) => (
        <>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <ProductLink product={product} />
            <Text className="numbers" fw={600} style={{ flex: "none" }}>
              {priceOf(product)}
            </Text>
          </Group>
          <Group justify="space-between" mt="xs" gap="xs">
            <ProductState product={product} />
            <CopyLink product={product} />
          </Group>
        </>
      )}
    />
  );
}

function ProductLink({ product }: { readonly product: Product }) {
  return (
    <Group gap="sm" wrap="nowrap" miw={0}>
      <Avatar src={product.image} alt="" radius="sm" size={32}>
        <Icon name="product" size={16} />
      </Avatar>
      <Link
        className="row-link"
        to="/console/$merchantId/products/$productId"
        params={{ merchantId: product.merchantId, productId: product.id }}
      >
        <Text span size="sm" fw={600} truncate display="block">
          {product.name}
        </Text>
      </Link>
    </Group>
  );
}

function CopyLink({ product: { name, checkoutUrl } }: { readonly product: Product }) {
  return (
    <span className="above-row-link">
      <CopyIcon value={checkoutUrl} name={`the link to ${name}`} />
    </span>
  );
}
