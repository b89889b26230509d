import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** The distance from the end that counts as the end, in pixels. */
const NEAR = 32

/** Keeps an element scrolled to its end while it grows. Scrolling up pauses it, and scrolling to the end resumes it. */
export function useFollow(
  box: RefObject<HTMLElement | null>,
  isLive: boolean,
): {
  isFollowing: Signal<boolean>
  onScroll: () => void
  follow: () => void
} {
  const isFollowing = useSignal(isLive)
  const last = useRef(0)
  const toEnd = () => {
    const found = box.current
    if (found) found.scrollTop = found.scrollHeight
  }
  // Rendering measures the rows, so the position of the end changes with each render.
  useLayoutEffect(() => {
    if (isFollowing.peek() && isLive) toEnd()
  })
  return {
    isFollowing,
    onScroll: () => {
      const { scrollTop, scrollHeight, clientHeight } = box.current!
      if (scrollHeight - scrollTop - clientHeight < NEAR) isFollowing.value = true
      else if (scrollTop < last.current - 1) isFollowing.value = false
      last.current = scrollTop
    },
    follow: () => {
      isFollowing.value = true
      toEnd()
    },
  }
}
