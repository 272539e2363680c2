"""The servers and loads of the comparisons."""

# By server: version, requests per second once saturated, CPU seconds per 1,000 requests.
SERVERS = {
    "caddy": ("2.8.4", 31_000.0, 0.052),
    "envoy": ("1.31.0", 38_000.0, 0.047),
    "haproxy": ("3.0.2", 54_000.0, 0.024),
    "nginx": ("1.27.0", 45_000.0, 0.029),
}
LOADS = (1, 8, 32, 128, 512)
