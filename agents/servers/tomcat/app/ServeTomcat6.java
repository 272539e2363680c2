import java.io.IOException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.Engine;
import org.apache.catalina.Host;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Embedded;

/** The pages of the shelf on Tomcat 6: ServeTomcat6 PORT BACKLOG THREADS FOLDER. */
public final class ServeTomcat6 extends HttpServlet {
    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        Pages page = Pages.find(request.getRequestURI());
        response.setStatus(page.status);
        response.setContentType(page.type);
        response.setContentLength(page.body.length);
        response.getOutputStream().write(page.body);
    }

    public static void main(String[] arguments) throws Exception {
        Embedded server = new Embedded();
        server.setCatalinaHome(arguments[3]);
        Context context = server.createContext("", arguments[3]);
        context.setLoader(server.createLoader(ServeTomcat6.class.getClassLoader()));
        Wrapper pages = context.createWrapper();
        pages.setName("pages");
        pages.setServletClass("ServeTomcat6");
        context.addChild(pages);
        context.addServletMapping("/", "pages");
        Host host = server.createHost("localhost", arguments[3]);
        host.addChild(context);
        Engine engine = server.createEngine();
        engine.setName("pages");
        engine.setDefaultHost("localhost");
        engine.addChild(host);
        server.addEngine(engine);
        server.addConnector(connector(arguments));
        server.start();
        Thread.currentThread().join();
    }

    private static Connector connector(String[] arguments) throws Exception {
        Connector connector = new Connector("HTTP/1.1");
        connector.setPort(Integer.parseInt(arguments[0]));
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("acceptCount", arguments[1]);
        connector.setProperty("maxThreads", arguments[2]);
        connector.setProperty("maxKeepAliveRequests", "-1");
        return connector;
    }
}
