#!/bin/sh
# Fills in nginx.conf from variables, starts nginx, and reloads it when the certificate changes.
set -eu

PROXY=${PROXY:-/etc/loadsheet}
RUN=${RUN:-/run/loadsheet}
CERTIFICATES=${CERTIFICATES:-/certificates}
HTTP_LISTEN=${HTTP_LISTEN:-8080}
HTTPS_LISTEN=${HTTPS_LISTEN:-8443}
UPSTREAMS=${UPSTREAMS:-web-a:8000 web-b:8000}
PUBLIC_URL=${PUBLIC_URL:-http://127.0.0.1:8000}
UPLOAD_MAX_BYTES=${UPLOAD_MAX_BYTES:-268435456}
REQUESTS_PER_S=${REQUESTS_PER_S:-200}
NAMES=$(echo "${ALLOWED_HOSTS:-127.0.0.1,localhost}" | tr ',' ' ')
CONFIG=$RUN/nginx.conf

for file in nginx.conf clients.conf site.conf plain.conf tls.conf; do
    if [ ! -r "$PROXY/$file" ]; then
        echo "proxy: $PROXY/$file cannot be read by $(id -un); build the image again" >&2
        exit 1
    fi
done
mkdir -p "$RUN/bodies" "$RUN/answers" "$RUN/unused" "$RUN/webroot"

certificate() {
    for folder in "$CERTIFICATES" "$CERTIFICATES/live/loadsheet"; do
        if [ -e "$folder/fullchain.pem" ]; then
            echo "$folder"
            return
        fi
    done
}

# Names are looked up again when a container gets another address; addresses are not. No failure counts:
# a client can make a web server close its connection, so that says nothing of the server.
upstream_lines() {
    for upstream in $UPSTREAMS; do
        case $upstream in
            *[a-z]*) echo "        server $upstream max_fails=0 resolve;" ;;
            *) echo "        server $upstream max_fails=0;" ;;
        esac
    done
}

resolver_line() {
    case $UPSTREAMS in
        *[a-z]*) echo "    resolver 127.0.0.11 valid=5s;" ;;
    esac
}

# Debian keeps it in a file of its own.
module_line() {
    file=/usr/lib/nginx/modules/ngx_stream_module.so
    if [ -e $file ]; then echo "load_module $file;"; fi
}

stream_of() {
    # The system keeps no more of an answer for a slow reader.
    printf '    server {\n        listen %s sndbuf=64k so_keepalive=60s:15s:4;\n        proxy_pass unix:%s;\n    }\n' "$1" "$2"
}

write_config() {
    folder=$(certificate)
    kind=plain
    [ -z "$folder" ] || kind=tls
    upstream_lines >"$RUN/upstreams"
    resolver_line >"$RUN/resolver"
    module_line >"$RUN/module"
    stream_of "$HTTP_LISTEN" "$RUN/http.sock" >"$RUN/streams"
    if [ $kind = tls ]; then stream_of "$HTTPS_LISTEN" "$RUN/https.sock" >>"$RUN/streams"; fi
    sed -e "/^SITE$/{r $PROXY/site.conf" -e "d}" "$PROXY/$kind.conf" >"$RUN/servers"
    sed -e "/^SERVERS$/{r $RUN/servers" -e "d}" \
        -e "/^UPSTREAM$/{r $RUN/upstreams" -e "d}" \
        -e "/^RESOLVER$/{r $RUN/resolver" -e "d}" \
        -e "/^MODULE$/{r $RUN/module" -e "d}" \
        -e "/^STREAMS$/{r $RUN/streams" -e "d}" \
        -e "/^CLIENTS$/{r $PROXY/clients.conf" -e "d}" "$PROXY/nginx.conf" |
        sed -e "s|BODY_MAX_BYTES|$((UPLOAD_MAX_BYTES + 1048576))|" \
            -e "s|BURST|$((5 * REQUESTS_PER_S))|" -e "s|REQUESTS_PER_S|$REQUESTS_PER_S|" \
            -e "s|FOURFOLD|$((20 * REQUESTS_PER_S))|" -e "s|RATE_OF_SITE|$((4 * REQUESTS_PER_S))|" \
            -e "s|NAMES|$NAMES|" -e "s|PUBLIC_URL|$PUBLIC_URL|" \
            -e "s|CERTIFICATE_KEY|$folder/privkey.pem|" -e "s|CERTIFICATE|$folder/fullchain.pem|" \
            -e "s|PROXY|$PROXY|" -e "s|RUN|$RUN|" >"$CONFIG"
}

fingerprint() {
    cat "$(certificate)"/*.pem 2>/dev/null | cksum
}

# Left behind where nginx was killed.
rm -f "$RUN"/*.sock
write_config
now=$(fingerprint)
# The image runs as a user of its own; where root starts it, nginx needs a name.
nginx -c "$CONFIG" -g "daemon off; ${NGINX_USER:+user $NGINX_USER;}" &
nginx=$!
stopped=
trap 'stopped=yes; kill -QUIT $nginx' TERM INT QUIT
while [ -z "$stopped" ] && kill -0 $nginx 2>/dev/null; do
    sleep "${LOOK_EVERY_S:-60}" &
    wait $! || true
    if [ "$(fingerprint)" != "$now" ]; then
        now=$(fingerprint)
        write_config
        if nginx -t -q -c "$CONFIG"; then kill -HUP $nginx; fi
    fi
done
wait $nginx
