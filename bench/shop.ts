export interface ShopCosts {
  readonly samples: {
    readonly hot: number;
    readonly direct: number;
    readonly manyProducts: number;
    readonly oneProduct: number;
    readonly manyBaskets: number;
    readonly fewBaskets: number;
    readonly chains: readonly number[];
  }[];
  readonly verified: string[];
}
