// Pictures of products for the sample month: flat shapes on a coloured background, so that no photograph has to be stored.
import { PNG } from "pngjs";

type Colour = readonly [red: number, green: number, blue: number];

interface Shape {
  readonly colour: Colour;
  /** The centre and half the side lengths, in a picture that is 1 wide and 1 high. */
  readonly at: readonly [x: number, y: number];
  readonly half: readonly [x: number, y: number];
  readonly isRound?: true;
}

const SIDE = 240;
/** Samples per pixel in each direction, to smooth the edges. */
const FINE = 3;

const STEEL: Colour = [148, 163, 184];
const DARK: Colour = [51, 65, 85];
const WOOD: Colour = [146, 96, 58];
const PAPER: Colour = [250, 245, 235];
const COFFEE: Colour = [87, 52, 32];

/** A hand grinder, as a data URL. */
export const GRINDER = drawn(
  [226, 232, 240],
  [
    { colour: DARK, at: [0.62, 0.17], half: [0.17, 0.015] },
    { colour: WOOD, at: [0.79, 0.14], half: [0.035, 0.05], isRound: true },
    { colour: STEEL, at: [0.47, 0.23], half: [0.015, 0.07] },
    { colour: STEEL, at: [0.47, 0.36], half: [0.2, 0.12], isRound: true },
    { colour: DARK, at: [0.47, 0.42], half: [0.2, 0.04] },
    { colour: WOOD, at: [0.47, 0.64], half: [0.17, 0.2] },
    { colour: DARK, at: [0.47, 0.86], half: [0.21, 0.025] },
  ],
);

/** A bag of coffee. */
export const BAG = drawn(
  [254, 243, 199],
  [
    { colour: COFFEE, at: [0.5, 0.54], half: [0.22, 0.32] },
    { colour: WOOD, at: [0.5, 0.24], half: [0.24, 0.04] },
    { colour: PAPER, at: [0.5, 0.56], half: [0.14, 0.14] },
    { colour: COFFEE, at: [0.5, 0.56], half: [0.06, 0.09], isRound: true },
    { colour: PAPER, at: [0.5, 0.56], half: [0.008, 0.09] },
  ],
);

function drawn(ground: Colour, shapes: readonly Shape[]): string {
  const picture = new PNG({ width: SIDE, height: SIDE });
  for (let pixel = 0; pixel < SIDE * SIDE; pixel++) {
    const [left, top] = [pixel % SIDE, Math.floor(pixel / SIDE)];
    const points = Array.from({ length: FINE * FINE }, (_, point) =>
      colourAt(ground, shapes, [(left + (point % FINE) / FINE) / SIDE, (top + Math.floor(point / FINE) / FINE) / SIDE]),
    );
    const mean = [0, 1, 2].map(
      (channel) => points.reduce((sum, each) => sum + (each[channel] ?? 0), 0) / points.length,
    );
    picture.data.set([...mean, 255], pixel * 4);
  }
  return `data:image/png;base64,${PNG.sync.write(picture).toString("base64")}`;
}

/** The colour of the topmost shape at a point, or of the background. */
function colourAt(ground: Colour, shapes: readonly Shape[], [x, y]: readonly [number, number]): Colour {
  const top = shapes.findLast(({ at, half, isRound }) => {
    const [across, down] = [Math.abs(x - at[0]) / half[0], Math.abs(y - at[1]) / half[1]];
    return isRound ? across ** 2 + down ** 2 <= 1 : Math.max(across, down) <= 1;
  });
  return top?.colour ?? ground;
}
