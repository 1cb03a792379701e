// The appearance of the whole console. Colours are set here once, so that every component meets WCAG AA contrast in both schemes: Mantine's own
// shades for dimmed text, light badges and errors do not.
import {
  Badge,
  Button,
  Card,
  type CSSVariablesResolver,
  createTheme,
  Loader,
  type MantineColorsTuple,
  Modal,
  Notification,
  PasswordInput,
  Table,
  Tooltip,
} from "@mantine/core";

const INDIGO: MantineColorsTuple = [
  "#eef2ff",
  "#e0e7ff",
  "#c7d2fe",
  "#a5b4fc",
  "#818cf8",
  "#6366f1",
  "#4f46e5",
  "#4338ca",
  "#3730a3",
  "#312e81",
];

/** Bluish greys, from the lightest surface to the darkest background. */
const SLATE: MantineColorsTuple = [
  "#e6e9f0",
  "#c3c9d6",
  "#a3abbc",
  "#828b9e",
  "#394152",
  "#2b3240",
  "#1f2530",
  "#161b24",
  "#10141b",
  "#0b0e14",
];

export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 7, dark: 6 },
  colors: { indigo: INDIGO, dark: SLATE },
  fontFamily: "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  headings: {
    fontWeight: "650",
    sizes: { h1: { fontSize: "1.6rem", lineHeight: "1.3" }, h2: { fontSize: "1.15rem", lineHeight: "1.4" } },
  },
  components: {
    Badge: Badge.extend({ defaultProps: { variant: "light", radius: "sm", tt: "none", fw: 600, miw: "max-content" } }),
    Button: Button.extend({ defaultProps: { fw: 600 } }),
    Card: Card.extend({ defaultProps: { withBorder: true, padding: "lg", radius: "lg" } }),
    Loader: Loader.extend({ defaultProps: { "aria-label": "Loading", role: "status" } }),
    Modal: Modal.extend({
      defaultProps: {
        centered: true,
        radius: "lg",
        closeButtonProps: { "aria-label": "Close" },
        // Without this, the dialog's <header> would count as a second banner of the page.
        attributes: { header: { role: "presentation" } },
      },
    }),
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { "aria-label": "Close the notice" } },
      // By default, the text below a title would be a paler grey.
      styles: { description: { color: "var(--mantine-color-dimmed)" } },
    }),
    PasswordInput: PasswordInput.extend({ defaultProps: { visibilityToggleButtonProps: { "aria-label": "Show" } } }),
    Table: Table.extend({ defaultProps: { verticalSpacing: "sm", horizontalSpacing: "md" } }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 300, multiline: true, maw: 320 } }),
  },
});

/** State colours, each with the text colour of a light badge or alert in the light scheme. */
const STATE_TEXTS = {
  indigo: "#312e81",
  green: "#14532d",
  red: "#7f1d1d",
  orange: "#7c2d12",
  yellow: "#713f12",
  blue: "#1e3a8a",
  gray: "#394152",
  teal: "#134e4a",
} as const;

const onLight = Object.entries(STATE_TEXTS).map(([name, text]) => [`--mantine-color-${name}-light-color`, text]);
const onDark = Object.keys(STATE_TEXTS).map((name) => [
  `--mantine-color-${name}-light-color`,
  `var(--mantine-color-${name}-2)`,
]);

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...Object.fromEntries(onLight),
    "--mantine-color-body": "#ffffff",
    "--mantine-color-text": "#1a1f2b",
    "--mantine-color-dimmed": "#596172",
    "--mantine-color-placeholder": "#6b7280",
    "--mantine-color-error": "#b91c1c",
    "--mantine-color-anchor": INDIGO[7],
    "--console-ground": "#f6f7fb",
    "--console-card": "#ffffff",
    "--console-past": SLATE[1],
  },
  dark: {
    ...Object.fromEntries(onDark),
    "--mantine-color-body": SLATE[7],
    "--mantine-color-dimmed": SLATE[2],
    "--mantine-color-placeholder": SLATE[2],
    "--mantine-color-error": "#fca5a5",
    "--mantine-color-anchor": INDIGO[3],
    "--console-ground": SLATE[8],
    "--console-card": SLATE[6],
    "--console-past": SLATE[4],
  },
});
