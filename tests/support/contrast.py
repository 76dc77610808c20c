"""How well the texts of a page stand out, as the browser that shows it sees them."""

# The contrast (WCAG 2.2) of each text with the nearest opaque background behind it; those below 4.5 are returned.
PALE_TEXTS = """() => {
  const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
  const light = ([r, g, b]) => {
    const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [x, y, z] = [r, g, b].map((c) => linear(c / 255));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255, 1];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const pale = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("noscript")) continue;
    const style = getComputedStyle(element);
    const front = parse(element instanceof SVGElement ? style.fill : style.color);
    const [one, other] = [light(front), light(behind(element))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < 4.5) pale.push(`${walker.currentNode.data.trim()}: ${contrast.toFixed(2)}`);
  }
  return pale;
}"""
