"""What a comparison found: figures beside their bounds, said in a line and kept for the table of compare_all.py."""
import json
import typing


class Figure(typing.NamedTuple):
    what: str
    found: float
    bound: float
    torch: typing.Optional[float] = None    # how far torch's own float32 is from its float64, by the same measure

    def holds(self):
        return self.found <= self.bound    # not so when it is no number

    def said(self):
        beside = "" if self.torch is None else f", torch's own {self.torch:.1e}"
        return f"{self.what} {self.found:.1e} (bound {self.bound:.0e}{beside}){'' if self.holds() else ' FAILED'}"


def conclude(title, figures, file=None):
    """Says them, writes them where compare_all.py wants them, and returns the exit code."""
    print(f"{title}: " + "; ".join(figure.said() for figure in figures), flush=True)
    if file:
        file.write_text(json.dumps({"title": title, "figures": [figure._asdict() for figure in figures]}))
    return 0 if all(figure.holds() for figure in figures) else 1


def largest_share(ours, theirs, floor=0.0):
    """The largest difference of two tensors' elements over the largest element of the second one, or `floor`."""
    scale = max(theirs.abs().max().item(), floor)
    difference = (ours.to(theirs.dtype) - theirs).abs().max().item()
    return difference if scale == 0 else difference / scale
