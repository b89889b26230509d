declare module '*.svg' {
  /** The content of the icon's `<svg>` element. */
  const inner: string
  export default inner
}
