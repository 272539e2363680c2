import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** The pages of the shelf on Tomcat 10: Serve PORT BACKLOG THREADS FOLDER. */
public final class Serve extends HttpServlet {
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
        Connector connector = new Connector("HTTP/1.1");
        connector.setPort(Integer.parseInt(arguments[0]));
        connector.setProperty("address", "127.0.0.1");
        connector.setProperty("acceptCount", arguments[1]);
        connector.setProperty("maxThreads", arguments[2]);
        connector.setProperty("maxConnections", "20000");
        connector.setProperty("maxKeepAliveRequests", "-1");
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(arguments[3]);
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", arguments[3]);
        Tomcat.addServlet(context, "pages", new Serve());
        context.addServletMappingDecoded("/", "pages");
        tomcat.start();
        tomcat.getServer().await();
    }
}
